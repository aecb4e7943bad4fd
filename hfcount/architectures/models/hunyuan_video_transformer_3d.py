"""HunyuanVideo: a transformer that denoises videos, in two streams and then in one (arXiv:2412.03603).

FramePack also sees what it made before, the earlier the smaller, and an image (arXiv:2504.12626).
"""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.blocks import joint_block, single_block, token_refiner
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    head_norm,
    modulated,
    patches,
)
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# diffusers 0.42.1: transformer_hunyuan_video.py, transformer_hunyuan_video_framepack.py
MODEL_TYPES = ("HunyuanVideoTransformer3DModel", "HunyuanVideoFramepackTransformer3DModel")

_NORMS = (None, "layer_norm", "fp32_layer_norm", "rms_norm")
_IMAGES = (None, "latent_concat", "token_replace")


class HunyuanVideo(Sizes):
    """Sizes specific to these architectures; `width` is that of their networks.

    `history` is whether FramePack sees what it made before, `seen` the width of an image that it sees, or None.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    text_embed_dim: int = size("d_t")
    pooled_projection_dim: int = size("d_p")
    patch_size: int = size("p", minimum=1)
    patch_size_t: int = size("p_t", minimum=1)
    num_layers: int = count("N_d")
    num_single_layers: int = count("N_s")
    num_refiner_layers: int = count("N_r")
    guidance_embeds: bool = flag()
    qk_norm: str | None = derived(lambda c: diffusion.word(c, "qk_norm", _NORMS))
    out_channels: int
    width: int
    history: bool
    seen: int | None


def spec(c: Config) -> Spec[HunyuanVideo]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    out = diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o")
    packs = c.family == "HunyuanVideoFramepackTransformer3DModel"
    if not packs:
        diffusion.word(c, "image_condition_type", _IMAGES)
    sizes = HunyuanVideo.read(
        c,
        out_channels=out,
        width=keys.dim("d_ff", c.times("mlp_ratio", d)),
        history=packs and c.bool("has_clean_x_embedder"),
        seen=diffusion.sized(c, "image_proj_dim", "d_i") if packs and c.bool("has_image_proj") else None,
    )
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[HunyuanVideo]) -> Block:
    d, of = s.hidden, s.own
    norm = head_norm(of.qk_norm, of.attention_head_dim, of.num_attention_heads)
    step, image = time_embedding(STEP_CHANNELS, d), of.seen
    guidance = step if of.guidance_embeds else None
    pooled = time_embedding(of.pooled_projection_dim, d)
    embedded = None if image is None else block("projector", up=Linear(image, 3 * d, True), down=Linear(3 * d, d, True))
    sides = (of.patch_size_t, of.patch_size, of.patch_size)
    return block(
        x_embedder=block(proj=patches(of.in_channels, d, *sides)),
        clean_x_embedder=_history(of.in_channels, d) if of.history else None,
        image_projection=embedded,
        context_embedder=token_refiner(of.text_embed_dim, d, of.num_refiner_layers),
        time_text_embed=block(timestep_embedder=step, text_embedder=pooled, guidance_embedder=guidance),
        transformer_blocks=Repeat(Indices.below(of.num_layers), joint_block(d, norm, of.width)),
        single_transformer_blocks=Repeat(Indices.below(of.num_single_layers), single_block(d, norm, of.width)),
        norm_out=modulated(d, 2 * d),
        proj_out=Linear(d, of.patch_size_t * of.patch_size * of.patch_size * of.out_channels, True),
    )


def _history(inputs: int, d: int) -> Block:
    """What embeds earlier frames, the earlier the larger the patches."""
    return block(
        proj=patches(inputs, d, 1, 2, 2), proj_2x=patches(inputs, d, 2, 4, 4), proj_4x=patches(inputs, d, 4, 8, 8)
    )
