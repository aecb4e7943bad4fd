"""HunyuanVideo: a transformer that denoises videos, in two streams and then in one (arXiv:2412.03603)."""

from hfcount import keys
from hfcount.keys import denoising, diffusion
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.diffusion import feed_forward, time_embedding
from hfcount.parts.diffusion_transformers import (
    STEP_CHANNELS,
    head_norm,
    joint_attention,
    modulated,
    normed_attention,
    patches,
)
from hfcount.spec import Sizes, Spec, count, derived, flag, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("HunyuanVideoTransformer3DModel",)  # diffusers 0.42.1: transformer_hunyuan_video.py

_NORMS = (None, "layer_norm", "fp32_layer_norm", "rms_norm")
_IMAGES = (None, "latent_concat", "token_replace")


class HunyuanVideo(Sizes):
    """What HunyuanVideo alone has; `width` is that of its networks."""

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
    qk_norm: str | None = derived(lambda c: denoising.word(c, "qk_norm", _NORMS))
    image_condition_type: str | None = derived(lambda c: denoising.word(c, "image_condition_type", _IMAGES))
    out_channels: int
    width: int


def spec(c: Config) -> Spec[HunyuanVideo]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    out = denoising.or_else(c, "out_channels", c.int("in_channels"), "C_o")
    own = HunyuanVideo.read(c, out_channels=out, width=keys.dim("d_ff", c.times("mlp_ratio", d)))
    return diffusion.diffusing(c, own, own.num_attention_heads * own.attention_head_dim)


def blueprint(s: Spec[HunyuanVideo]) -> Block:
    d, of = s.hidden, s.own
    norm = head_norm(of.qk_norm, of.attention_head_dim, of.num_attention_heads)
    network, step = feed_forward(d, of.width), time_embedding(STEP_CHANNELS, d)
    both = block(
        norm1=modulated(d, 6 * d),
        norm1_context=modulated(d, 6 * d),
        attn=joint_attention(d, norm),
        ff=network,
        ff_context=network,
    )
    single = block(
        attn=normed_attention(d, d, norm=norm, to_out=None),
        norm=modulated(d, 3 * d),
        proj_mlp=Linear(d, of.width, True, "mlp"),
        proj_out=Linear(d + of.width, d, True, "mlp"),
    )
    guidance = step if of.guidance_embeds else None
    pooled = time_embedding(of.pooled_projection_dim, d)
    sides = (of.patch_size_t, of.patch_size, of.patch_size)
    return block(
        x_embedder=block(proj=patches(of.in_channels, d, *sides)),
        context_embedder=_refiner(of, d),
        time_text_embed=block(timestep_embedder=step, text_embedder=pooled, guidance_embedder=guidance),
        transformer_blocks=Repeat(Indices.below(of.num_layers), both),
        single_transformer_blocks=Repeat(Indices.below(of.num_single_layers), single),
        norm_out=modulated(d, 2 * d),
        proj_out=Linear(d, of.patch_size_t * of.patch_size * of.patch_size * of.out_channels, True),
    )


def _refiner(of: HunyuanVideo, d: int) -> Block:
    """The layers that refine the tokens of the text, whose networks are four times as wide whatever the config says."""
    layer = block(
        norm1=layer_norm(d),
        attn=normed_attention(d, d),
        norm2=layer_norm(d),
        ff=feed_forward(d, 4 * d),
        norm_out=modulated(d, 2 * d),
    )
    text = of.text_embed_dim
    step = block(timestep_embedder=time_embedding(STEP_CHANNELS, d), text_embedder=time_embedding(text, d))
    refined = block(refiner_blocks=Repeat(Indices.below(of.num_refiner_layers), layer))
    return block(time_text_embed=step, proj_in=Linear(text, d, True, "embedding"), token_refiner=refined)
