"""Attention that goes by the distance between tokens."""

from hfcount.parts.attention import gqa
from hfcount.parts.layers import altered
from hfcount.parts.mixers import conv1d
from hfcount.spec import GQA
from hfcount.tree.nodes import Block, Linear, Tensor, block


def relative(d: int, a: GQA, rel: int, extent: int, kernel: int) -> Block:
    """Attention up to `extent` tokens back, to which each head adds a logit made of `rel` elements by the distance.

    Tensors beside grouped-query attention's: r_proj (h·rel, d), rel_logits_proj.proj (rel, extent), and a convolution
    of `kernel` keys, k_sconv.conv1d (h_kv·h_d, 1, kernel), and of values, v_sconv. Source: transformers 5.23,
    modeling_inkling.py.
    """
    convolution = spread(a.kv_heads * a.head_dim, kernel)
    return altered(
        gqa(d, a),
        r_proj=Linear(d, a.heads * rel),
        k_sconv=convolution,
        v_sconv=convolution,
        rel_logits_proj=Block({"proj": Tensor((rel, extent))}, repeats=a.heads),  # once for each head
    )


def spread(channels: int, kernel: int) -> Block:
    """A short convolution of what a part of a layer makes. Tensors: conv1d.weight (channels, 1, w)."""
    return block("attention", conv1d=conv1d(channels, kernel))
