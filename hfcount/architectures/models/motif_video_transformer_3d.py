"""Motif-Video: a transformer that denoises videos in two streams and then in one, some of which see the text again."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.blocks import joint_block, projected_image, single_block
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    head_norm,
    modulated,
    normed_attention,
    patches,
)
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.stacks import altered, within
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("MotifVideoTransformer3DModel",)  # diffusers 0.42.1: transformer_motif_video.py


class MotifVideo(Sizes):
    """Sizes specific to Motif-Video; `width` is that of its networks.

    `first` are the blocks of one stream that see the text again.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    text_embed_dim: int = size("d_t")
    patch_size: int = size("p", minimum=1)
    patch_size_t: int = size("p_t", minimum=1)
    num_layers: int = count("N_d")
    num_single_layers: int = count("N_s")
    enable_text_cross_attention_dual: bool = flag()
    qk_norm: str | None = derived(lambda c: diffusion.text_of(c, "qk_norm"))
    image_embed_dim: int | None = derived(lambda c: diffusion.nullable(c, "image_embed_dim", "d_i"))
    out_channels: int
    width: int
    first: Indices


def spec(c: Config) -> Spec[MotifVideo]:
    d, layers = (
        c.int("num_attention_heads") * c.int("attention_head_dim"),
        c.int("num_single_layers", maximum=MAX_LAYERS),
    )
    c.choice("norm_type", ("layer_norm",))
    seeing = max(0, layers - c.int("num_decoder_layers", minimum=0, maximum=MAX_LAYERS))
    sizes = MotifVideo.read(
        c,
        out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"),
        width=keys.dim("d_ff", c.times("mlp_ratio", d)),
        first=Indices.span(0, seeing if c.bool("enable_text_cross_attention_single") else 0),
    )
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[MotifVideo]) -> Block:
    d, of, image = s.hidden, s.own, s.own.image_embed_dim
    norm = head_norm(of.qk_norm if of.qk_norm in ("layer_norm", "rms_norm") else None, of.attention_head_dim, 1)
    crossed, added = normed_attention(d, d, norm=norm), rms_norm(of.attention_head_dim)
    both, single = joint_block(d, norm, of.width), single_block(d, norm, of.width)
    both = within(both, attn=block(norm_added_q=added, norm_added_k=added))
    if of.enable_text_cross_attention_dual:
        both = altered(both, cross_attn=crossed)
    every, sides = Indices.below(of.num_single_layers), (of.patch_size_t, of.patch_size, of.patch_size)
    return block(
        x_embedder=block(proj=patches(of.in_channels, d, *sides)),
        context_embedder=time_embedding(of.text_embed_dim, d),
        image_embedder=None if image is None else projected_image(image, d),
        time_text_embed=block("embedding", timestep_embedder=time_embedding(STEP_CHANNELS, d)),
        transformer_blocks=Repeat(Indices.below(of.num_layers), both),
        single_transformer_blocks=(
            Repeat(of.first, altered(single, cross_attn=crossed)),
            Repeat(every.difference(of.first), single),
        ),
        norm_out=modulated(d, 2 * d),
        proj_out=Linear(d, of.patch_size_t * of.patch_size * of.patch_size * of.out_channels, True),
    )
