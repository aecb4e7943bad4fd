"""Qwen3-VL's, Qwen3-Omni's and Qwen3.5's vision tower: positions, mergers after some layers too (arXiv:2511.21631)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_qwen3_vl.py, modeling_qwen3_vl_moe.py, modeling_qwen3_5.py, modeling_qwen3_5_moe.py,
# modeling_cohere_compass.py, modeling_qwen4_exp.py, modeling_qwen3_omni_moe.py
# and, for Intern-S1-Pro, modeling_interns1_pro.py of internlm/Intern-S1-Pro
MODEL_TYPES = (
    "qwen3_vl_vision",
    "qwen3_vl_moe_vision",
    "qwen3_5_vision",
    "qwen3_5_moe_vision",
    "cohere_compass_vision",
    "qwen4_exp_vision",
    "qwen3_omni_moe_vision_encoder",
    "interns1_pro_vision",
)
_HANDING_ON = (
    "qwen3_vl_vision",
    "qwen3_vl_moe_vision",
    "cohere_compass_vision",
    "qwen3_omni_moe_vision_encoder",
)


class Qwen3VlVision(Sizes):
    deepstack_visual_indexes: int
    numbered: bool


def spec(c: Config) -> Spec[Qwen3VlVision]:
    hands_on = c.family in _HANDING_ON  # layers besides the last, to the first layers of the language model
    frames, merge = c.int("temporal_patch_size"), c.int("spatial_merge_size")
    patches = keys.patches(c, "in_channels", frames=frames, merge=merge)
    return keys.tower(
        c,
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=patches,
        positions=c.int("num_position_embeddings"),
        out=c.int("out_hidden_size"),
    ).having(
        Qwen3VlVision.read(
            c,
            deepstack_visual_indexes=len(c.ints("deepstack_visual_indexes")) if hands_on else 0,
            numbered=c.family == "qwen3_omni_moe_vision_encoder",
        )
    )


def blueprint(s: Spec[Qwen3VlVision]) -> Block:
    d, merged, deep = s.hidden, s.seen.merged(s.hidden), s.own.deepstack_visual_indexes
    numbered = s.own.numbered

    def merger(norm: int) -> Block:
        wide, narrow = Linear(merged, merged, bias=True), Linear(merged, s.output, bias=True)
        if numbered:
            return block("projector", ln_q=layer_norm(norm), mlp=Block({"0": wide, "2": narrow}))
        return block("projector", norm=layer_norm(norm), linear_fc1=wide, linear_fc2=narrow)

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, up="linear_fc1", down="linear_fc2")
        return block(norm1=layer_norm(d), norm2=layer_norm(d), attn=fused_square_attention(d), mlp=network)

    mergers = Repeat(Indices.below(deep), merger(merged))
    return block(
        patch_embed=block(proj=patch_convolution(s)),
        pos_embed=positions(s),
        blocks=stack(s.layers, layer_block),
        merger=merger(d),
        **({"merger_list" if numbered else "deepstack_merger_list": mergers} if deep else {}),
    )
