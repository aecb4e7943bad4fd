"""CogView 3+ and 4: transformers that denoise an image and a text as one sequence (arXiv:2403.05121)."""

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulated
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# diffusers 0.42.1: transformer_cogview3plus.py, transformer_cogview4.py
MODEL_TYPES = ("CogView3PlusTransformer2DModel", "CogView4Transformer2DModel")

_NUMBERS = 6
"""Numbers that tell the size of an image, and what is cut from it."""


class CogView(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    text_embed_dim: int = size("d_t")
    time_embed_dim: int = size("d_s")
    condition_dim: int = size("d_c")
    patch_size: int = size("p")
    num_layers: int = count("L")


def spec(c: Config) -> Spec[CogView]:
    sizes = CogView.read(c)
    d = sizes.num_attention_heads * sizes.attention_head_dim
    if c.family == "CogView3PlusTransformer2DModel":
        diffusion.sinusoidal(c, d, 4)
        c.int("pos_embed_max_size", minimum=1)
    return diffusion.diffusing(c, sizes, d)


def blueprint(s: Spec[CogView]) -> Block:
    d, of, places = s.hidden, s.own, s.own.patch_size * s.own.patch_size
    image, text = Linear(places * of.in_channels, d, True), Linear(of.text_embed_dim, d, True)
    condition = time_embedding(_NUMBERS * of.condition_dim, of.time_embed_dim)
    layer = block(norm1=modulated(of.time_embed_dim, 12 * d), attn1=attention(d, d), ff=feed_forward(d, 4 * d))
    return block(
        patch_embed=block("embedding", proj=image, text_proj=text),
        time_condition_embed=block(
            timestep_embedder=time_embedding(d, of.time_embed_dim), condition_embedder=condition
        ),
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        norm_out=modulated(of.time_embed_dim, 2 * d),
        proj_out=Linear(d, places * of.out_channels, True),
    )
