"""Mochi: a transformer that denoises videos in two streams, that of the text a narrower one."""

from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulated, normed_attention, patches
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("MochiTransformer3DModel",)  # diffusers 0.42.1: transformer_mochi.py


class Mochi(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    pooled_projection_dim: int = size("d_p")
    text_embed_dim: int = size("d_t")
    time_embed_dim: int = size("d_s")
    patch_size: int = size("p", minimum=1)
    num_layers: int = count("L")
    gated: bool = derived(diffusion.gated_activation)
    out_channels: int


def spec(c: Config) -> Spec[Mochi]:
    sizes = Mochi.read(c, out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"))
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[Mochi]) -> Block:
    d, of, patch, text = s.hidden, s.own, s.own.patch_size, s.own.text_embed_dim
    pooler = block(to_kv=Linear(text, 2 * text, True), to_q=Linear(text, text, True), to_out=Linear(text, d, True))
    condition = block(
        "embedding",
        timestep_embedder=time_embedding(of.time_embed_dim, d),
        pooler=pooler,
        caption_proj=Linear(text, of.pooled_projection_dim, True),
    )
    before = of.num_layers - 1 if of.num_layers else 0
    layers = (
        Repeat(Indices.below(before), _layer(of, d, False)),
        Repeat(Indices.span(before, of.num_layers), _layer(of, d, True)),
    )
    return block(
        pos_frequencies=Tensor((3, of.num_attention_heads, of.attention_head_dim // 2), component="embedding"),
        patch_embed=block(proj=patches(of.in_channels, d, patch, patch)),
        time_embed=condition,
        transformer_blocks=layers,
        norm_out=modulated(d, 2 * d),
        proj_out=Linear(d, patch * patch * of.out_channels, True),
    )


def _layer(of: Mochi, d: int, last: bool) -> Block:
    """A layer; after the last the text is of no more use."""
    p, norm = of.pooled_projection_dim, rms_norm(of.attention_head_dim)
    added = Linear(p, d)
    more = {"add_q_proj": added, "add_k_proj": added, "add_v_proj": added}
    back = None if last else Linear(d, p, True)
    attention = normed_attention(d, d, None, False, norm, **more, to_add_out=back, norm_added_q=norm, norm_added_k=norm)
    return block(
        norm1=modulated(d, 4 * d),
        norm1_context=block("norm", linear_1=Linear(d, p, True)) if last else modulated(d, 4 * p),
        attn1=attention,
        ff=feed_forward(d, 8 * d // 3, gated=of.gated, bias=False),
        ff_context=None if last else feed_forward(p, 8 * p // 3, gated=of.gated, bias=False),
    )
