"""Latte: a transformer that denoises videos, with blocks for places and blocks for frames (arXiv:2401.03048)."""

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.blocks import basic_block
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulation, patches, table
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block
from hfcount.text import shown

MODEL_TYPES = ("LatteTransformer3DModel",)  # diffusers 0.42.1: latte_transformer_3d.py

_RUN = ("ada_norm_single",)
_BY_CLASS = ("ada_norm", "ada_norm_zero")


class Latte(Sizes):
    """Sizes of Latte; `norm_type` is how the norms of its blocks are modulated, by one of `classes` for some."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    caption_channels: int = size("d_t")
    num_layers: int = count("L")
    patch_size: int = size("p", minimum=1)
    attention_bias: bool = flag()
    norm_elementwise_affine: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    cross_attention_dim: int | None = derived(lambda c: diffusion.nullable(c, "cross_attention_dim", "d_c"))
    norm_type: str
    classes: int | None
    out_channels: int


def spec(c: Config) -> Spec[Latte]:
    out = diffusion.nullable(c, "out_channels", "C_o")
    kind = _norm(c)
    classes = diffusion.nullable(c, "num_embeds_ada_norm", "n_c") if kind in _BY_CLASS else None
    sizes = Latte.read(c, norm_type=kind, classes=classes, out_channels=c.int("in_channels") if out is None else out)
    if kind in _BY_CLASS and classes is None and sizes.num_layers:
        text = f"norm_type is {kind}, and num_embeds_ada_norm is null."
        raise c.error("contradiction", text, "num_embeds_ada_norm", "Correct one of them.")
    diffusion.check_places(c, sizes.num_attention_heads * sizes.attention_head_dim)
    diffusion.dropout(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _norm(c: Config) -> str:
    kind = c.str("norm_type")
    if kind == "ada_norm_continuous":
        text = "norm_type is ada_norm_continuous, and no key gives the width of what modulates."
        raise c.error("unknown-kind", text, "norm_type", "Correct it.", observed=kind)
    if kind not in _RUN:
        text = f"norm_type is {shown(kind)}, but must be {_RUN[0]}."
        c.cannot_run("unknown-kind", text, "norm_type", expected=_RUN[0], observed=kind)
    return kind


def blueprint(s: Spec[Latte]) -> Block:
    d, of = s.hidden, s.own
    places, frames = (
        basic_block(
            d,
            source,
            of.norm_type,
            affine=of.norm_elementwise_affine,
            bias=of.attention_bias,
            gated=of.gated,
            classes=of.classes,
        )
        for source in (of.cross_attention_dim, None)
    )
    each = Indices.below(of.num_layers)
    return block(
        scale_shift_table=table(2, d),
        pos_embed=block(proj=patches(of.in_channels, d, of.patch_size, of.patch_size)),
        transformer_blocks=Repeat(each, places),
        temporal_transformer_blocks=Repeat(each, frames),
        proj_out=Linear(d, of.patch_size * of.patch_size * of.out_channels, True),
        adaln_single=modulation(d),
        caption_projection=time_embedding(of.caption_channels, d),
    )
