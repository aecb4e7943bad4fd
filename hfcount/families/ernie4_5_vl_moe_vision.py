"""ERNIE 4.5 VL's vision tower: flattened patches, rotary positions (ERNIE 4.5 technical report)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import fused_square_attention, patch_projection
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("ernie4_5_vl_moe_vision",)  # transformers 5.23: modeling_ernie4_5_vl_moe.py


def spec(c: Config) -> Spec:
    patches = keys.patches(c, "in_channels", merge=c.int("spatial_merge_size"))
    return keys.tower(
        c,
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=patches,
        further={"PretrainedModel": "base"},
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        network = mlp(d, one.dense.width)
        return block(norm1=layer_norm(d), norm2=layer_norm(d), attn=fused_square_attention(d), mlp=network)

    return block(patch_embed=block(proj=patch_projection(s)), blocks=stack(s.layers, layer), ln=layer_norm(d))
