"""Qwen3-VL's and Qwen3.5's vision tower: a table of positions, mergers after some layers too (arXiv:2511.21631)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_qwen3_vl.py, modeling_qwen3_vl_moe.py, modeling_qwen3_5.py, modeling_qwen3_5_moe.py,
# modeling_cohere_compass.py, modeling_qwen4_exp.py
MODEL_TYPES = (
    "qwen3_vl_vision",
    "qwen3_vl_moe_vision",
    "qwen3_5_vision",
    "qwen3_5_moe_vision",
    "cohere_compass_vision",
    "qwen4_exp_vision",
)


def spec(c: Config) -> Spec:
    hands_on = (
        "_vl_" in c.family or c.family == "cohere_compass_vision"
    )  # layers besides the last, to the first layers of the language model
    frames, merge = c.int("temporal_patch_size"), c.int("spatial_merge_size")
    patches = keys.patches(c, "in_channels", frames=frames, merge=merge)
    return keys.tower(
        c,
        heads=("num_heads",),
        depth=("depth",),
        uneven="built",
        patches=patches,
        positions=c.int("num_position_embeddings"),
        out=c.int("out_hidden_size"),
        traits={"deepstack_visual_indexes": len(c.ints("deepstack_visual_indexes")) if hands_on else 0},
    )


def blueprint(s: Spec) -> Block:
    d, merged, deep = s.hidden, s.seen.merged(s.hidden), s.traits["deepstack_visual_indexes"]

    def merger(norm: int) -> Block:
        wide, narrow = Linear(merged, merged, bias=True), Linear(merged, s.output, bias=True)
        return block("projector", norm=layer_norm(norm), linear_fc1=wide, linear_fc2=narrow)

    def layer(one: Layer) -> Block:
        network = mlp(d, one.dense.width, up="linear_fc1", down="linear_fc2")
        return block(norm1=layer_norm(d), norm2=layer_norm(d), attn=fused_square_attention(d), mlp=network)

    return block(
        patch_embed=block(proj=patch_convolution(s)),
        pos_embed=positions(s),
        blocks=stack(s.layers, layer),
        merger=merger(d),
        deepstack_merger_list=Repeat(Indices.below(deep), merger(merged)) if deep else None,
    )
