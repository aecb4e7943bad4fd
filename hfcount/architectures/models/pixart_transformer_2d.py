"""PixArt: a transformer that denoises images by a text, all layers modulated alike (arXiv:2310.00426)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    gated_self_attention,
    patches,
    table,
)
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("PixArtTransformer2DModel",)  # diffusers 0.42.1: pixart_transformer_2d.py

_ALPHA_SIZE = 128
"""The sample_size whose model also takes the size and shape of the image, unless the config says otherwise."""


class PixArt(Sizes):
    """Sizes specific to PixArt; `sized` is whether it takes the size and shape of the image."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    num_layers: int = count("L")
    patch_size: int = size("p", minimum=1)
    attention_bias: bool = flag()
    norm_elementwise_affine: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    cross_attention_dim: int | None = derived(lambda c: diffusion.nullable(c, "cross_attention_dim", "d_c"))
    caption_channels: int | None = derived(lambda c: diffusion.nullable(c, "caption_channels", "d_t"))
    fused: bool = derived(lambda c: diffusion.text_of(c, "attention_type") in ("gated", "gated-text-image"))
    out_channels: int
    sized: bool


def spec(c: Config) -> Spec[PixArt]:
    c.choice("norm_type", ("ada_norm_single",))
    c.int("num_embeds_ada_norm")
    out, sample = diffusion.nullable(c, "out_channels", "C_o"), c.int("sample_size")
    named = c.given("use_additional_conditions")
    sized = c.bool("use_additional_conditions") if named else sample == _ALPHA_SIZE
    sizes = PixArt.read(c, out_channels=c.int("in_channels") if out is None else out, sized=sized)
    d = sizes.num_attention_heads * sizes.attention_head_dim
    diffusion.check_places(c, d)
    if sizes.fused and sizes.cross_attention_dim is None:
        text = "attention_type asks for a gate to the text, and cross_attention_dim is null."
        raise c.error("contradiction", text, "attention_type", "Correct one of them.")
    diffusion.dropout(c)
    return diffusion.diffusing(c, sizes, d)


def blueprint(s: Spec[PixArt]) -> Block:
    d, of = s.hidden, s.own
    norm = layer_norm(d) if of.norm_elementwise_affine else None
    source, bias = of.cross_attention_dim, of.attention_bias
    fuser = gated_self_attention(d, source) if of.fused and source is not None else None
    layer = block(
        scale_shift_table=table(6, d),
        norm1=norm,
        attn1=attention(d, d, bias=bias),
        norm2=norm,
        attn2=None if source is None else attention(d, d, source, bias),
        ff=feed_forward(d, 4 * d, gated=of.gated),
        fuser=fuser,
    )
    shape = time_embedding(STEP_CHANNELS, d // 3) if of.sized else None
    step = block(
        timestep_embedder=time_embedding(STEP_CHANNELS, d), resolution_embedder=shape, aspect_ratio_embedder=shape
    )
    text, patch = of.caption_channels, of.patch_size
    return block(
        scale_shift_table=table(2, d),
        pos_embed=block(proj=patches(of.in_channels, d, patch, patch)),
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        proj_out=Linear(d, patch * patch * of.out_channels, True),
        adaln_single=block("embedding", emb=step, linear=Linear(d, 6 * d, True)),
        caption_projection=None if text is None else time_embedding(text, d),
    )
