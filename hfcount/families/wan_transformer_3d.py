"""Wan: a transformer that denoises videos, by a text and for some an image (arXiv:2503.20314)."""

from math import prod

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, rms_norm
from hfcount.parts.diffusion import feed_forward, time_embedding
from hfcount.parts.diffusion_transformers import normed_attention, patches, table
from hfcount.spec import Sizes, Spec, count, derived, flag, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("WanTransformer3DModel",)  # diffusers 0.42.1: transformer_wan.py


class Wan(Sizes):
    """What Wan alone has; `image_dim` is the width of what it sees of an image, None if it sees none."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    text_dim: int = size("d_t")
    freq_dim: int = size("d_s")
    ffn_dim: int = size("d_ff")
    num_layers: int = count("L")
    cross_attn_norm: bool = flag()
    image_dim: int | None = derived(lambda c: keys.nullable(c, "image_dim", "d_i"))
    added_kv_proj_dim: int | None = derived(lambda c: keys.nullable(c, "added_kv_proj_dim", "d_a"))
    pos_embed_seq_len: int | None = derived(lambda c: keys.nullable(c, "pos_embed_seq_len", "n_p"))
    patch_size: tuple[int, ...] = derived(lambda c: keys.patch_sides(c, "patch_size", 3))
    out_channels: int


def spec(c: Config) -> Spec[Wan]:
    own = Wan.read(c, out_channels=keys.or_else(c, "out_channels", c.int("in_channels"), "C_o"))
    keys.rotary_pairs(c, own.attention_head_dim)
    return keys.diffusing(c, own, own.num_attention_heads * own.attention_head_dim)


def blueprint(s: Spec[Wan]) -> Block:
    d, of = s.hidden, s.own
    image, added = of.image_dim, of.added_kv_proj_dim
    norm, joined = rms_norm(d), None if added is None else Linear(added, d, True)
    added_norm = None if added is None else norm
    layer = block(
        scale_shift_table=table(1, 6, d),
        attn1=normed_attention(d, d, norm=norm),
        attn2=normed_attention(d, d, norm=norm, add_k_proj=joined, add_v_proj=joined, norm_added_k=added_norm),
        norm2=layer_norm(d) if of.cross_attn_norm else None,
        ffn=feed_forward(d, of.ffn_dim),
    )
    condition = block(
        "embedding",
        time_embedder=time_embedding(of.freq_dim, d),
        time_proj=Linear(d, 6 * d, True),
        text_embedder=time_embedding(of.text_dim, d),
        image_embedder=None if image is None else _image(image, d, of.pos_embed_seq_len),
    )
    return block(
        patch_embedding=patches(of.in_channels, d, *of.patch_size),
        condition_embedder=condition,
        blocks=Repeat(Indices.below(of.num_layers), layer),
        proj_out=Linear(d, of.out_channels * prod(of.patch_size), True),
        scale_shift_table=table(1, 2, d),
    )


def _image(inputs: int, d: int, positions: int | None) -> Block:
    table = None if positions is None else Tensor((1, positions, inputs))
    network = feed_forward(inputs, inputs, d)
    return block(norm1=layer_norm(inputs), ff=network, norm2=layer_norm(d), pos_embed=table)
