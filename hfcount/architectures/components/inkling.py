"""Inkling: the scales of its tower, its attention and convolutions, and its layers under the names of their release.

Source of those names: transformers 5.23, conversion_mapping.py.
"""

from itertools import accumulate
from math import log
from operator import mul
from typing import NamedTuple

from hfcount.architectures.layers.ffn import correction_bias, stacked
from hfcount.architectures.layers.mixers import conv1d
from hfcount.architectures.layers.model import embedding
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import derived_dim
from hfcount.architectures.layers.stacks import stack
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Layer, MoE, Record, Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, Tensor, block

_MULTIPLE = 64


_MOST = 4_096  # layers, whose widths are found one by one


class Scale(NamedTuple):
    """A grid of frames and pixels, and the channels that each of its cells has."""

    frames: int
    side: int
    channels: int

    @property
    def cells(self) -> int:
        """Pixels per cell."""
        return self.frames * self.side * self.side


def scales(c: Config) -> list[Scale]:
    """The scales before each layer and after the last, as even as the prime factors of a patch allow.

    Source: transformers 5.23, modeling_inkling.py, plan_out_scales.
    """
    channels, count = c.int("num_channels", default=3), c.int("num_hidden_layers", "n_layers", maximum=_MOST)
    sides = list(accumulate(_factors(c.int("patch_size", minimum=1)), mul))
    spans = list(accumulate(_factors(c.int("temporal_patch_size", minimum=1)), mul))
    side = sides[-1] if sides else 1
    known = [Scale(1, 1, channels)]
    known += [Scale(1, side, _rounded(side * side * channels)) for side in sides]
    known += [Scale(span, side, _MULTIPLE * side * side * channels * span) for span in spans]  # not rounded
    total = log(max(1, known[-1].cells * channels))
    costs = [[abs(total * place / max(1, count) - log(scale.cells)) for scale in known] for place in range(count + 1)]
    chosen = _nearest(costs) if count >= len(known) else _distinct(costs)
    return [known[0], *(known[place] for place in chosen[1:-1]), known[-1]]


def _nearest(costs: list[list[float]]) -> list[int]:
    return [min(range(len(row)), key=row.__getitem__) for row in costs]


def _distinct(costs: list[list[float]]) -> list[int]:
    """A distinct scale for each row, in order, at the least total cost."""
    width = len(costs[0])
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (width + 1)
    for row in costs:
        bests: list[tuple[float, tuple[int, ...]]] = [(float("inf"), ())]
        for place in range(width):
            cost, way = best[place]
            taken = (cost + row[place], (*way, place)) if cost < float("inf") else (float("inf"), ())
            bests.append(min(bests[-1], taken, key=lambda path: path[0]))
        best = bests
    return list(best[-1][1])


def _rounded(channels: int) -> int:
    return -(-channels // _MULTIPLE) * _MULTIPLE


def _factors(number: int) -> list[int]:
    """The prime factors, in descending order."""
    factors, rest, factor = list[int](), int(number), 2
    while factor * factor <= rest:
        if rest % factor:
            factor += 1
        else:
            factors.append(factor)
            rest //= factor
    return sorted([*factors, rest] if rest > 1 else factors, reverse=True)


def channels(c: Config, scale: Scale, place: int) -> int:
    """The channels of a scale as a size with a symbol, by the number of the layer that gives it."""
    return derived_dim(c, f"C{place}", scale.channels, "{patch_size}, by its factors")


INKLING_ATTENTION = {
    **{
        rf"\battn\.{old}\.": f"self_attn.{new}_proj."
        for old, new in {
            "wq_du": "q",
            "wk_dv": "k",
            "wv_dv": "v",
            "wr_du": "r",
            "wo_ud": "o",
            "gate_attn": "gate",
            "attn_sink_proj": "sink",
        }.items()
    },
    r"\battn\.(?!\d)": "self_attn.",
    r"\bmlp_norm\.": "post_attention_layernorm.",
    r"\battn_norm\.": "input_layernorm.",
    r"\bmlp\.experts\.w13_weight$": "mlp.experts.gate_up_proj",
    r"\bmlp\.experts\.w2_weight$": "mlp.experts.down_proj",
    r"\bmlp\.gate\.bias$": "mlp.gate.e_score_correction_bias",
}
"""Attention and experts of Inkling in its release."""


class Inkling(Sizes):
    """The sizes that both versions share."""

    conv_kernel_size: int
    d_rel: int = size()


class Reach(Record):
    """The number of relative positions in a layer's attention; `full` if it attends to all tokens."""

    extent: int
    full: bool


def released(s: Spec[Inkling]) -> Block:
    """The language model within the whole one. Tensors: embed (|V|, d), embed_norm (d), layers, norm (d)."""
    d, kernel = s.hidden, s.own.conv_kernel_size

    def layer_block(layer: Layer) -> Block:
        return block(
            attn_norm=rms_norm(d),
            attn=_attention(d, layer, s.own.d_rel, kernel),
            attn_sconv=spread(d, kernel),
            mlp_norm=rms_norm(d),
            mlp=_experts(d, layer.ffn) if isinstance(layer.ffn, MoE) else _network(d, layer.dense.width),
            mlp_sconv=spread(d, kernel),
        )

    table = embedding(s.vocab, d)
    return block(embed=table, embed_norm=rms_norm(d), layers=stack(s.layers, layer_block), norm=rms_norm(d))


def spread(channels: int, kernel: int, component: Component = "attention") -> Block:
    """A short convolution over the output of a part of a layer. Tensors: weight (channels, 1, w)."""
    return Block(conv1d(channels, kernel).children, component)


def projections(d: int, a: GQA, rel: int) -> Block:
    """The attention projections, and the logits of relative positions.

    Tensors: wq_du (h·h_d, d), wk_dv and wv_dv (h_kv·h_d, d), wr_du (h·rel, d), wo_ud (d, h·h_d).
    """
    query, keys = a.heads * a.head_dim, Linear(d, a.kv_heads * a.head_dim)
    wr = Linear(d, a.heads * rel)
    return block("attention", wq_du=Linear(d, query), wk_dv=keys, wv_dv=keys, wr_du=wr, wo_ud=Linear(query, d))


def _attention(d: int, layer: Layer, rel: int, kernel: int) -> Block:
    a, convolution = layer.attention, spread(layer.attention.kv_heads * layer.attention.head_dim, kernel)
    more = block(
        q_norm=rms_norm(a.head_dim),
        k_norm=rms_norm(a.head_dim),
        k_sconv=convolution,
        v_sconv=convolution,
        rel_logits_proj=Block(
            {"proj": Tensor((rel, layer.sizes(Reach).extent))}, repeats=a.heads
        ),  # once for each head
    )
    return Block({**projections(d, a, rel).children, **more.children}, "attention")


def _network(d: int, width: int) -> Block:
    return block("mlp", w13_dn=Linear(d, 2 * width), w2_md=Linear(width, d), global_scale=Tensor((1,)))


def _experts(d: int, m: MoE) -> Block:
    count = (m.shared or 0) // m.width
    gate = block("router", weight=Tensor((m.experts + count, d)), global_scale=Tensor((1,)), bias=correction_bias(m))
    shared = block(
        "mlp",
        shared_w13_weight=Tensor((count, 2 * m.width, d)),
        shared_w2_weight=Tensor((count, d, m.width)),
    )
    routed = block(w13_weight=stacked(m, 2 * m.width, d), w2_weight=stacked(m, d, m.width))
    return block(gate=gate, experts=routed, shared_experts=shared)
