"""Ling and Ring: layers in groups, names of their attention, experts that a bias balances, the model around."""

from collections.abc import Callable

from hfcount.architectures.layers import (
    altered,
    correction_bias,
    drafting,
    embedding,
    fused_qkv,
    mla,
    rms_norm,
    shared_moe,
    stack,
    with_head,
)
from hfcount.architectures.layers.ffn import read_moe, router
from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import by_place, listing
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, MLA, Layer, Layers, Mixer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block


def in_groups(c: Config, full: Mixer, linear: Mixer) -> list[Layers]:
    """Layers with `full` at the end of each group of layer_group_size, and after the last group; others with `linear`.

    A list has 1 for each layer with linear attention, and 0 for each other. Source: bailing_moe_v3.py of mlx-lm 0.32.2
    and configs/bailing_hybrid.py of SGLang 0.5.23.
    """
    key, count = "layer_group_size", layer_count(c)
    if isinstance(c.value(key), list):
        return by_place(c, listing(c, key, c.ints(key), 0, 1)[:1], full, linear)
    size = c.int(key, minimum=1, maximum=MAX_LAYERS)
    after = int(count) // int(size) * int(size)
    return by_place(c, [Indices.span(size - 1, after, size), Indices.span(after, count)], full, linear)


def bailing_experts(c: Config) -> MoE:
    """Routed experts, and shared ones of moe_shared_expert_intermediate_size, stored as one."""
    routed = read_moe(c, "moe_intermediate_size", experts=("num_experts",))
    each = c.int("moe_shared_expert_intermediate_size", default=None) or c.int("moe_intermediate_size")
    shared = each * c.int("num_shared_experts", default=0, minimum=0)
    return routed.replace(shared=shared or None)


def fused(d: int, a: GQA) -> Block:
    """Grouped attention. Tensors: query_key_value and dense, and with norms one of d_h for queries and one for keys."""
    norm = rms_norm(a.head_dim) if a.qk_norm else None
    return block(
        "attention",
        query_key_value=fused_qkv(d, a),
        dense=Linear(a.heads * a.head_dim, d, a.out_bias),
        query_layernorm=norm,
        key_layernorm=norm,
    )


def latent(d: int, a: MLA, gated: bool) -> Block:
    """Latent attention whose output projection is `dense`; `gated`, g_proj (h, d) is a gate for each head."""
    gate = Linear(d, a.heads) if gated else None
    return altered(mla(d, a), o_proj=None, dense=Linear(a.heads * a.value_dim, d, a.bias), g_proj=gate)


def gate(d: int, m: MoE, balanced: bool) -> Block:
    """A router; `balanced`, it has expert_bias (n)."""
    return altered(router(d, m), expert_bias=correction_bias(m)) if balanced else router(d, m)


def experts(d: int, m: MoE, balanced: bool) -> Block:
    """Experts, routed and shared, with their `gate`."""
    return altered(shared_moe(d, m, bias=m.bias), gate=gate(d, m, balanced))


def model(s: Spec, layer: Callable[[Layer], Block]) -> Block:
    """The embedding, the layers, the multi-token-prediction layers, a norm and the head."""

    def ahead(mtp_layer: Layer) -> Block:
        return Block(drafting(s.hidden, mtp_layer.replace(first=True, last=True), layer(mtp_layer)).children, "mtp")

    layers = (*stack(s.layers, layer), *stack(s.stack("mtp"), ahead))
    body = block(word_embeddings=embedding(s.vocab, s.hidden), layers=layers, norm=rms_norm(s.hidden))
    return with_head(s, body, table="word_embeddings")
