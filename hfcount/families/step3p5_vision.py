"""Step's vision tower: CLIP's layers with a scale on each branch, then two convolutions that halve the grid."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.conversions import qkv
from hfcount.parts.release_names import STEP_VISION
from hfcount.parts.vision import convolution, patch_convolution
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("step3p5_vision",)  # transformers 5.23: modeling_step3p7.py
SPELLINGS = STEP_VISION
MERGED = {f"attn.in_proj_{end}": qkv("self_attn", end) for end in ("weight", "bias")}


def spec(c: Config) -> Spec:
    d = c.int("width", default=None) or c.int("hidden_size")
    c.int("intermediate_size", default=None)  # in configs, without effect
    return keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.times("mlp_ratio", d), bias=True),
        heads=("heads", "num_attention_heads"),
        depth=("layers", "num_hidden_layers"),
        indivisible="built",
        patches=keys.patches(c),
        positions=keys.squares(c),
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden
    scale = block("other", gamma=Tensor((d,)))
    fused = block(
        "attention",
        in_proj_weight=Tensor((3 * d, d)),
        in_proj_bias=Tensor((3 * d,)),
        out_proj=Linear(d, d, bias=True),
    )

    def layer(one: Layer) -> Block:
        network = mlp(d, one.dense.width, up="c_fc", down="c_proj")
        return block(ln_1=layer_norm(d), ln_2=layer_norm(d), attn=fused, mlp=network, ls_1=scale, ls_2=scale)

    return block(
        conv1=patch_convolution(s, bias=False),
        positional_embedding=Tensor((s.positions or 0, d), component="embedding"),
        ln_pre=layer_norm(d),
        transformer=block(resblocks=stack(s.layers, layer)),
        vit_downsampler1=convolution(d, 2 * d, 3),
        vit_downsampler2=convolution(2 * d, 4 * d, 3),
    )
