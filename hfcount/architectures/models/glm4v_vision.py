"""GLM-4.1V's vision tower: gated networks as wide as the output, then merging by a convolution (arXiv:2507.01006)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("glm4v_vision", "glm4v_moe_vision")  # transformers 5.23: modeling_glm4v.py, modeling_glm4v_moe.py


class Glm4vVision(Sizes):
    intermediate_size: int
    attention_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[Glm4vVision]:
    merger = keys.dim("d_m", c.int("intermediate_size"))
    frames, merge, out = c.int("temporal_patch_size"), c.int("spatial_merge_size"), c.int("out_hidden_size")
    return keys.tower(
        c,
        ffn=Dense(width=out),
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=keys.patches(c, "in_channels", frames=frames, merge=merge),
        positions=keys.squares(c),
        out=out,
    ).having(Glm4vVision.read(c, intermediate_size=merger))


def blueprint(s: Spec[Glm4vVision]) -> Block:
    d, out, of, m = s.hidden, s.output, s.own, s.seen.merge
    attention = fused_square_attention(d, of.attention_bias, out_bias=False)

    def layer_block(layer: Layer) -> Block:
        return block(norm1=rms_norm(d), norm2=rms_norm(d), attn=attention, mlp=swiglu(d, layer.dense.width))

    merging = block(proj=Linear(out, out), post_projection_norm=layer_norm(out)).children
    return block(
        embeddings=block(position_embedding=positions(s)),
        patch_embed=block(proj=patch_convolution(s)),
        blocks=stack(s.layers, layer_block),
        merger=Block({**merging, **swiglu(out, of.intermediate_size).children}, "projector"),
        post_conv_layernorm=rms_norm(d),
        downsample=block("projector", weight=Tensor((out, d, m, m)), bias=Tensor((out,))),
        post_layernorm=rms_norm(d),
    )
