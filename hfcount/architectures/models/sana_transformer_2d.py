"""Sana: a transformer that denoises images with linear attention (arXiv:2410.10629).

Its ControlNet has the same layers, each with one behind it that steers; Sana-Video also mixes neighbouring frames.
"""

from math import prod

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, layer_norm, rms_norm
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    gated_convolution,
    head_norm,
    modulation,
    normed_attention,
    patches,
    table,
)
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

# diffusers 0.42.1: sana_transformer.py, controlnet_sana.py, transformer_sana_video.py
MODEL_TYPES = ("SanaTransformer2DModel", "SanaControlNetModel", "SanaVideoTransformer3DModel")

_NORMS = (
    None, "layer_norm", "fp32_layer_norm", "layer_norm_across_heads", "rms_norm", "rms_norm_across_heads", "l2",
)  # fmt: skip


class Crossed(Record):
    """Attention to a text: heads, elements of each, and the width of the text."""

    heads: int
    head_dim: int
    source: int


class Sana(Sizes):
    """Sizes specific to these architectures; `crossed` is None where they attend to no text.

    `video` says that it is Sana-Video, and `steers` that it is a ControlNet.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    caption_channels: int = size("d_t")
    num_layers: int = count("L")
    attention_bias: bool = flag()
    norm_elementwise_affine: bool = flag()
    sides: tuple[int, ...]
    video: bool
    steers: bool
    guided: bool
    qk_norm: str | None
    out_channels: int
    width: int
    crossed: Crossed | None


def spec(c: Config) -> Spec[Sana]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    steers, video = c.family == "SanaControlNetModel", c.family == "SanaVideoTransformer3DModel"
    sizes = Sana.read(
        c,
        sides=diffusion.patch_sides(c, "patch_size", 3)
        if video
        else (keys.dim("p", c.int("patch_size", minimum=1)),) * 2,
        video=video,
        steers=steers,
        guided=not steers and c.bool("guidance_embeds"),
        qk_norm=None if steers else diffusion.word(c, "qk_norm", _NORMS),
        out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"),
        width=keys.dim("d_ff", c.times("mlp_ratio", d)),
        crossed=_crossed(c),
    )
    if video:
        diffusion.rotary_pairs(c, sizes.attention_head_dim)
    elif not c.is_null("interpolation_scale"):
        diffusion.check_places(c, d)
    diffusion.dropout(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _crossed(c: Config) -> Crossed | None:
    source = diffusion.nullable(c, "cross_attention_dim", "d_c")
    if source is None:
        return None
    heads = keys.dim("h_c", c.int("num_cross_attention_heads"))
    return Crossed(heads=heads, head_dim=keys.dim("h_x", c.int("cross_attention_head_dim")), source=source)


def blueprint(s: Spec[Sana]) -> Block:
    d, of = s.hidden, s.own
    step = time_embedding(STEP_CHANNELS, d)
    guided = block("embedding", timestep_embedder=step, guidance_embedder=step, linear=Linear(d, 6 * d, True))
    norm = head_norm(of.qk_norm, of.attention_head_dim, of.num_attention_heads)
    crossed = of.crossed
    layer = block(
        scale_shift_table=table(6, d),
        attn1=normed_attention(d, d, bias=of.attention_bias, norm=norm),
        norm2=layer_norm(d) if crossed and of.norm_elementwise_affine else None,
        attn2=_attention(d, crossed, of.qk_norm) if crossed else None,
        ff=gated_convolution(d, of.width),
    )
    patch, places = patches(of.in_channels, d, *of.sides), prod(of.sides)
    if of.video:
        mixed = Block({**gated_convolution(d, of.width).children, "conv_temp": conv(d, d, 3, 1)}, "mlp")
        layer = Block({**layer.children, "ff": mixed})
    each, steering = Indices.below(of.num_layers), Linear(d, d, True, "projector")
    ends: dict[str, Node] = {"proj_out": Linear(d, places * of.out_channels, True)}
    if of.steers:
        ends = {"input_block": steering, "controlnet_blocks": Repeat(each, steering)}
    return block(
        scale_shift_table=None if of.steers else table(2, d),
        patch_embed=None if of.video else block(proj=patch),
        patch_embedding=patch if of.video else None,
        time_embed=guided if of.guided else modulation(d),
        caption_projection=time_embedding(of.caption_channels, d),
        caption_norm=rms_norm(d),
        transformer_blocks=Repeat(each, layer),
        **ends,
    )


def _attention(d: int, a: Crossed, norm: str | None) -> Block:
    return normed_attention(d, a.heads * a.head_dim, a.source, norm=head_norm(norm, a.head_dim, a.heads))
