"""Lumina-Next: a transformer that denoises images and attends to a text through gates (arXiv:2406.18583)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, layer_norm, rms_norm
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS, modulated, normed_attention
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("LuminaNextDiT2DModel",)  # diffusers 0.42.1: lumina_nextdit2d.py

_MOST = 1024
"""The most channels of what modulates a layer."""


class LuminaNext(Sizes):
    hidden_size: int = size("d")
    num_attention_heads: int = size("h", minimum=1)
    in_channels: int = size("C")
    cross_attention_dim: int = size("d_c")
    patch_size: int = size("p")
    num_layers: int = count("L")
    qk_norm: bool = flag()
    learn_sigma: bool = flag()
    kv_heads: int
    width: int


def spec(c: Config) -> Spec[LuminaNext]:
    heads = c.int("num_attention_heads", minimum=1)
    wide = 8 * c.int("hidden_size") // 3
    wide = wide if c.is_null("ffn_dim_multiplier") else c.times("ffn_dim_multiplier", wide)
    width = keys.dim("d_ff", round_up(wide, c.int("multiple_of", minimum=1)))
    sizes = LuminaNext.read(c, kv_heads=_kv_heads(c, heads), width=width)
    head = sizes.hidden_size // heads
    if not head or head % 4:
        text = (
            f"hidden_size / num_attention_heads is {int(head):,}, but must be a multiple of 4, for two axes of pairs."
        )
        raise c.error("not-divisible", text, "hidden_size", "Correct one of them.", observed=int(head))
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def _kv_heads(c: Config, heads: int) -> int:
    if not c.is_null("num_kv_heads"):
        return keys.dim("h_kv", c.int("num_kv_heads"))
    if c.bool("qk_norm"):
        text = "num_kv_heads is null, and qk_norm needs the number of heads that it is over."
        raise c.error("contradiction", text, "num_kv_heads", "Give it, as num_attention_heads if all have their own.")
    return heads


def blueprint(s: Spec[LuminaNext]) -> Block:
    d, of = s.hidden, s.own
    small, source = min(d, _MOST), of.cross_attention_dim
    caption = Block({"0": layer_norm(source), "1": Linear(source, small, True)})
    out = of.patch_size * of.patch_size * of.in_channels * (2 if of.learn_sigma else 1)
    return block(
        pad_token=Tensor((d,), component="embedding"),
        patch_embedder=block("embedding", proj=Linear(of.patch_size * of.patch_size * of.in_channels, d, True)),
        time_caption_embed=block(
            "embedding", timestep_embedder=time_embedding(STEP_CHANNELS, small), caption_embedder=caption
        ),
        layers=Repeat(Indices.below(of.num_layers), _layer(of, d, small)),
        norm_out=block("norm", linear_1=Linear(small, d, True), linear_2=Linear(d, out, True)),
    )


def _layer(of: LuminaNext, d: int, step: int) -> Block:
    norm, width = rms_norm(d), of.width
    return block(
        gate=Tensor((of.num_attention_heads,), component="attention"),
        attn1=_attention(of, d, None),
        attn2=_attention(of, d, of.cross_attention_dim),
        feed_forward=block("mlp", linear_1=Linear(d, width), linear_2=Linear(width, d), linear_3=Linear(d, width)),
        norm1=modulated(step, 4 * d, norm=norm),
        ffn_norm1=norm,
        norm2=norm,
        ffn_norm2=norm,
        norm1_context=rms_norm(of.cross_attention_dim),
    )


def _attention(of: LuminaNext, d: int, source: int | None) -> Block:
    """Attention to the image itself or, with the only projection behind both, to a text so wide."""
    head = d // of.num_attention_heads
    wide, narrow = of.num_attention_heads * head, of.kv_heads * head
    projection: Node = Linear(source or d, narrow)
    norms = {"norm_q": layer_norm(wide), "norm_k": layer_norm(narrow)} if of.qk_norm else {}
    out = None if source is None else Block({"0": Linear(wide, d)})
    return normed_attention(
        d, wide, source, False, None, **{"to_k": projection, "to_v": projection, "to_out": out, **norms}
    )
