"""Inkling 2: the language model and a vision tower whose merged patches pass two projections."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.inkling import Inkling
from hfcount.architectures.components.inkling2 import (
    IGNORED_TEXT,
    RELEASED,
    RELEASED_TEXT,
    headed,
    inkling2_spec,
    text_body,
    whole,
    whole_spec,
)
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.vision import patch_projection, square_attention
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("inkling2",)  # transformers 5.23: modeling_inkling2.py
SPELLINGS = RELEASED


def spec(c: Config) -> Spec:
    return whole_spec(c)


def blueprint(s: Spec) -> Block:
    return whole(s)


def text_spec(c: Config) -> Spec[Inkling]:
    """Inkling 2's language model: each part of a layer reads earlier blocks of layers."""
    return inkling2_spec(c)


def text_blueprint(s: Spec[Inkling]) -> Block:
    return headed(s, text_body(s))


class Inkling2Vision(Sizes):
    projection_hidden_dim: int = size("d_p")
    projector_bias: bool = flag(absent=False)


def vision_spec(c: Config) -> Spec[Inkling2Vision]:
    """Inkling 2's vision tower: CLIP's layers with a scale on each branch over flattened patches and a class token."""
    d, grid = c.int("hidden_size"), c.int("posemb_grid_size")
    width = c.int("intermediate_size", default=None)
    sizes = Inkling2Vision.read(c)
    patches = keys.patches(c, merge=c.int("spatial_merge_size", "adapter_merge_size"))
    ffn = Dense(width=c.times("mlp_ratio", d) if width is None else width, bias=True)
    out = c.int("text_hidden_size")
    return keys.tower(c, hidden=d, ffn=ffn, patches=patches, positions=grid * grid, out=out).having(sizes)


def vision_blueprint(s: Spec[Inkling2Vision]) -> Block:
    d, released, scale = s.hidden, bool(s.place), Tensor((s.hidden,))
    # Within the whole model the names are those of the release.
    before, after, up, down = (
        ("ln_1", "ln_2", "c_fc", "c_proj") if released else ("layernorm_before", "layernorm_after", "fc1", "fc2")
    )
    gamma = block("other", gamma=scale)
    scales = {"ls_1": gamma, "ls_2": gamma} if released else {"lambda_1": scale, "lambda_2": scale}

    def layer_block(layer: Layer) -> Block:
        network, attention = mlp(d, layer.dense.width, up=up, down=down), square_attention(d, out="out_proj")
        return Block({before: layer_norm(d), after: layer_norm(d), "self_attn": attention, "mlp": network, **scales})

    places = Tensor((s.positions or 0, d))
    table = block(
        "embedding",
        class_embedding=scale,
        cls_position_embedding=scale,
        patch_embedding=patch_projection(s),
        position_embedding=places if released else block(weight=places),
    )
    bias, width = s.own.projector_bias, s.own.projection_hidden_dim
    inner = Linear(s.seen.merged(d), width, bias, "projector")
    outer = Linear(width, s.output, bias, "projector")
    layers = stack(s.layers, layer_block)
    if not released:
        merger = block(linear_1=inner, linear_2=outer)
        return block(embeddings=table, pre_layernorm=layer_norm(d), layers=layers, merger=merger)
    backbone = block(embeddings=table, ln_pre=layer_norm(d), layers=layers)
    return block(backbone=backbone, proj_in=inner, proj_out=outer)


PARTS = (
    families.Family(
        ("inkling2_text",),
        text_spec,
        text_blueprint,
        ignored=IGNORED_TEXT,
        spellings=RELEASED_TEXT,
    ),
    families.Family(("inkling2_vision",), vision_spec, vision_blueprint),
)
