"""Allegro: a transformer that denoises videos by a text, all layers modulated alike (arXiv:2410.15458)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulation, patches, table
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("AllegroTransformer3DModel",)  # diffusers 0.42.1: transformer_allegro.py


class Allegro(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    caption_channels: int = size("d_t")
    patch_size: int = size("p", minimum=1)
    num_layers: int = count("L")
    attention_bias: bool = flag()
    norm_elementwise_affine: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    cross_attention_dim: int | None = derived(lambda c: diffusion.nullable(c, "cross_attention_dim", "d_c"))


def spec(c: Config) -> Spec[Allegro]:
    sizes = Allegro.read(c)
    diffusion.dropout(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[Allegro]) -> Block:
    d, of, patch = s.hidden, s.own, s.own.patch_size
    norm = layer_norm(d) if of.norm_elementwise_affine else None
    layer = block(
        scale_shift_table=table(6, d),
        norm1=norm,
        attn1=attention(d, d, bias=of.attention_bias),
        norm2=norm,
        attn2=attention(d, d, of.cross_attention_dim, of.attention_bias),
        norm3=norm,
        ff=feed_forward(d, 4 * d, gated=of.gated),
    )
    return block(
        scale_shift_table=table(2, d),
        pos_embed=block(proj=patches(of.in_channels, d, patch, patch)),
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        proj_out=Linear(d, patch * patch * of.out_channels, True),
        adaln_single=modulation(d),
        caption_projection=time_embedding(of.caption_channels, d),
    )
