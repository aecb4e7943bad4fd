"""Inkling's layers under the names of its release.

Source: transformers 5.23, conversion_mapping.py.
"""

from dataclasses import replace

from hfcount.parts.ffn import correction_bias, stacked
from hfcount.parts.layers import altered
from hfcount.parts.mixers import conv1d
from hfcount.parts.model import embedding, stack
from hfcount.parts.norms import rms_norm
from hfcount.spec import GQA, Layer, MoE, Spec
from hfcount.tree.indices import Indices, intersection
from hfcount.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, block


def released(s: Spec) -> Block:
    """The language model within the whole one. Tensors: embed (|V|, d), embed_norm (d), layers, norm (d)."""
    d, kernel = s.hidden, s.traits["conv_kernel_size"]

    def layer(one: Layer) -> Block:
        return block(
            attn_norm=rms_norm(d),
            attn=_attention(d, one, s.traits["d_rel"], kernel),
            attn_sconv=spread(d, kernel),
            mlp_norm=rms_norm(d),
            mlp=_experts(d, one.ffn) if isinstance(one.ffn, MoE) else _network(d, one.dense.width),
            mlp_sconv=spread(d, kernel),
        )

    table = embedding(s.vocab, d)
    return block(embed=table, embed_norm=rms_norm(d), layers=stack(s.layers, layer), norm=rms_norm(d))


def spread(channels: int, kernel: int, component: Component = "attention") -> Block:
    """A short convolution over the output of a part of a layer. Tensors: weight (channels, 1, w)."""
    return Block(conv1d(channels, kernel).children, component)


def projections(d: int, a: GQA, rel: int) -> Block:
    """Attention's projections, and what gives distances their logits.

    Tensors: wq_du (h·h_d, d), wk_dv and wv_dv (h_kv·h_d, d), wr_du (h·rel, d), wo_ud (d, h·h_d).
    """
    query, keys = a.heads * a.head_dim, Linear(d, a.kv_heads * a.head_dim)
    wr = Linear(d, a.heads * rel)
    return block("attention", wq_du=Linear(d, query), wk_dv=keys, wv_dv=keys, wr_du=wr, wo_ud=Linear(query, d))


def _attention(d: int, one: Layer, rel: int, kernel: int) -> Block:
    a, convolution = one.attention, spread(one.attention.kv_heads * one.attention.head_dim, kernel)
    more = block(
        q_norm=rms_norm(a.head_dim),
        k_norm=rms_norm(a.head_dim),
        k_sconv=convolution,
        v_sconv=convolution,
        rel_logits_proj=Block({"proj": Tensor((rel, one.traits["extent"]))}, repeats=a.heads),  # once for each head
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


def clipped_attention(d: int, one: Layer, rel: int, kernel: int) -> Block:
    """Inkling 2's attention, gated, with a sink and limits that each head has learnt.

    Tensors besides those of `projections`: gate_attn (h·h_d, d), attn_sink_proj (h, d), q_l2_clip.scale (h, h_d),
    rel_l2_clip.scale (h, rel), rel_logits_proj.proj (rel, extent), k_sconv and v_sconv: weight (h_kv·h_d, 1, w), or
    with the trait `full` static_w (w, h_kv·h_d) and weight_proj (h_kv·w, d).
    """
    a, keys = one.attention, one.attention.kv_heads * one.attention.head_dim
    convolution = spread(keys, kernel)
    if one.traits["full"]:
        convolution = block(static_w=Tensor((kernel, keys)), weight_proj=Tensor((a.kv_heads * kernel, d)))
    return altered(
        projections(d, a, rel),
        gate_attn=Linear(d, a.heads * a.head_dim),
        attn_sink_proj=Linear(d, a.heads),
        k_sconv=convolution,
        v_sconv=convolution,
        q_l2_clip=block(scale=Tensor((a.heads, a.head_dim))),
        rel_l2_clip=block(scale=Tensor((a.heads, rel))),
        rel_logits_proj=Block({"proj": Tensor((rel, one.traits["extent"]))}, repeats=a.heads),
    )


def earlier(s: Spec) -> tuple[Node, ...]:
    """What attention asks earlier blocks of layers, by the number of the layer before: (d), or (3, d) if it is full."""
    found: list[Node] = []
    for part in s.layers:
        later = intersection(part.indices, Indices.of(range(1, max(1, int(s.depth)))))
        shape = (3, s.hidden) if part.layer.traits["full"] else (s.hidden,)
        found.append(Repeat(replace(later.shifted(-1), count=int(later.count)), Tensor(shape)))  # none are of a layer
    return tuple(found)
