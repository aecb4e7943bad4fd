"""Parts that the versions of Ling share: attention, experts balanced by a bias, and the model around the layers."""

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
from hfcount.architectures.layers.ffn import router
from hfcount.spec import GQA, MLA, Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, block


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


def experts(d: int, m: MoE, balanced: bool) -> Block:
    """Experts, routed and shared; `balanced`, the router has gate.expert_bias (n)."""
    moe = shared_moe(d, m, bias=m.bias)
    return altered(moe, gate=altered(router(d, m), expert_bias=correction_bias(m))) if balanced else moe


def model(s: Spec, layer: Callable[[Layer], Block]) -> Block:
    """The embedding, the layers, the multi-token-prediction layers, a norm and the head."""

    def ahead(mtp_layer: Layer) -> Block:
        return Block(drafting(s.hidden, mtp_layer.replace(first=True, last=True), layer(mtp_layer)).children, "mtp")

    layers = (*stack(s.layers, layer), *stack(s.stack("mtp"), ahead))
    body = block(word_embeddings=embedding(s.vocab, s.hidden), layers=layers, norm=rms_norm(s.hidden))
    return with_head(s, body, table="word_embeddings")
