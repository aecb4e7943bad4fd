"""GLM-Image's vision tower: a table of positions, then layers, no norm behind them (https://huggingface.co/zai-org)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Layer, Sizes, Spec, flag
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("glm_image_vision",)  # transformers 5.23: modeling_glm_image.py
IGNORED = ("spatial_merge_size",)


class GlmImageVision(Sizes):
    """What this architecture alone has."""

    attention_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[GlmImageVision]:
    own = GlmImageVision.read(c)
    return keys.tower(
        c,
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=keys.patches(c, "in_channels"),
        positions=keys.squares(c),
    ).having(own)


def blueprint(s: Spec[GlmImageVision]) -> Block:
    d, bias = s.hidden, s.own.attention_bias

    def layer(one: Layer) -> Block:
        attention = fused_square_attention(d, bias, bias)
        return block(norm1=layer_norm(d), norm2=layer_norm(d), attn=attention, mlp=mlp(d, one.dense.width))

    return block(
        embeddings=block(position_embedding=positions(s)),
        patch_embed=block(proj=patch_convolution(s)),
        blocks=stack(s.layers, layer),
    )
