"""GLM-Image: a transformer that denoises images by tokens of a language model and by glyphs (Zhipu AI, 2026)."""

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulated
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("GlmImageTransformer2DModel",)  # diffusers 0.42.1: transformer_glm_image.py


class GlmImage(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    patch_size: int = size("p")
    num_layers: int = count("L")
    text_embed_dim: int = size("d_t")
    time_embed_dim: int = size("d_s")
    condition_dim: int = size("d_c")
    prior_vq_quantizer_codebook_size: int = size("V")


def spec(c: Config) -> Spec[GlmImage]:
    sizes = GlmImage.read(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[GlmImage]) -> Block:
    d, of, places = s.hidden, s.own, s.own.patch_size * s.own.patch_size
    step, conditions = of.time_embed_dim, 4 * of.condition_dim
    layer = block(norm1=modulated(step, 12 * d), attn1=attention(d, d), ff=feed_forward(d, 4 * d))
    return block(
        image_projector=block("embedding", proj=Linear(of.in_channels * places, d, True)),
        glyph_projector=feed_forward(of.text_embed_dim, d, d),
        prior_token_embedding=block("embedding", weight=Tensor((of.prior_vq_quantizer_codebook_size, d))),
        prior_projector=feed_forward(d, d),
        time_condition_embed=block(
            "embedding",
            timestep_embedder=time_embedding(step, step),
            condition_embedder=time_embedding(conditions, step),
        ),
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        norm_out=modulated(step, 2 * d),
        proj_out=Linear(d, places * of.out_channels, True),
    )
