"""LTX-Video: a transformer that denoises videos by a text (arXiv:2501.00103)."""

from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulation, normed_attention, table
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("LTXVideoTransformer3DModel",)  # diffusers 0.42.1: transformer_ltx.py


class Ltx(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    caption_channels: int = size("d_t")
    num_layers: int = count("L")
    norm_elementwise_affine: bool = flag()
    attention_bias: bool = flag()
    attention_out_bias: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    out_channels: int
    cross_attention_dim: int


def spec(c: Config) -> Spec[Ltx]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    c.choice("qk_norm", ("rms_norm_across_heads",))
    source = diffusion.nullable(c, "cross_attention_dim", "d_c")
    out = diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o")
    sizes = Ltx.read(c, out_channels=out, cross_attention_dim=d if source is None else source)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[Ltx]) -> Block:
    d, of = s.hidden, s.own
    norm, out = rms_norm(d), Block({"0": Linear(d, d, of.attention_out_bias)})
    around = norm if of.norm_elementwise_affine else None
    layer = block(
        scale_shift_table=table(6, d),
        norm1=around,
        attn1=normed_attention(d, d, bias=of.attention_bias, norm=norm, to_out=out),
        norm2=around,
        attn2=normed_attention(d, d, of.cross_attention_dim, of.attention_bias, norm, to_out=out),
        ff=feed_forward(d, 4 * d, gated=of.gated),
    )
    return block(
        scale_shift_table=table(2, d),
        proj_in=Linear(of.in_channels, d, True, "embedding"),
        time_embed=modulation(d),
        caption_projection=time_embedding(of.caption_channels, d),
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        proj_out=Linear(d, of.out_channels, True),
    )
