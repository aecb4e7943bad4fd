"""Softmax attention in its published forms."""

from collections.abc import Callable

from hfcount.architectures.layers.layers import altered
from hfcount.architectures.layers.mixers import conv1d
from hfcount.architectures.layers.norms import rms_norm
from hfcount.spec import GQA, MLA
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete


def gqa(
    d: int,
    a: GQA,
    out: str = "o_proj",
    norms: tuple[str, str] = ("q_norm", "k_norm"),
    norm: Callable[[int], Block] = rms_norm,
    sinks: str = "sinks",
) -> Block:
    """Grouped-query attention with rotary positions (arXiv:2305.13245, arXiv:2104.09864).

    Tensors: q_proj (h·h_d, d; twice that when gated), k_proj and v_proj (h_kv·h_d, d), o_proj (d, h·h_d); with biases
    as the spec says, with `qk_norm` q_norm and k_norm (h_d, or the whole width), with `sinks` sinks (h). transformers
    before 4.32 also wrote the rotary inv_freq (h_d/2).

    Args:
        out: name of the output projection.
        norms: names of the norms of queries and keys.
        norm: builds such a norm.
        sinks: name of the attention sinks.
    """
    query, keys = a.heads * a.head_dim, a.kv_heads * a.head_dim
    values = a.head_dim if a.value_dim is None else a.value_dim
    query_norm, key_norm = (query, keys) if a.qk_norm == "width" else (a.head_dim, a.head_dim)
    parts = block(
        q_proj=Linear(d, 2 * query if a.gated else query, a.qkv_bias),
        k_proj=Linear(d, keys, a.qkv_bias),
        v_proj=Linear(d, a.kv_heads * values, a.qkv_bias),
    ).children
    return Block(
        {
            **parts,
            out: Linear(a.heads * values, d, a.out_bias),
            **({norms[0]: norm(query_norm), norms[1]: norm(key_norm)} if a.qk_norm else {}),
            **({sinks: Tensor((a.heads,))} if a.sinks else {}),
            "rotary_emb": inv_freq(a.head_dim),
        },
        "attention",
    )


def fused_qkv(d: int, a: GQA) -> Linear:
    """Queries, keys and values in one projection. Tensors: weight ((h + 2·h_kv)·h_d, d), with a bias as `a` says."""
    return Linear(d, a.heads * a.head_dim + 2 * (a.kv_heads * a.head_dim), a.qkv_bias)


def inv_freq(rotary_dim: int) -> Block:
    """The rotary frequencies that earlier versions of transformers wrote: (rotary_dim/2)."""
    return block(inv_freq=obsolete(rotary_dim // 2))


def mla(d: int, a: MLA) -> Block:
    """Multi-head latent attention (arXiv:2405.04434, section 2.1).

    Tensors: with a query rank q_a_proj (r_q, d), q_a_layernorm (r_q), q_b_proj (h·(h_n + h_r), r_q), else q_proj;
    kv_a_proj_with_mqa (r_kv + h_r, d), kv_a_layernorm (r_kv), kv_b_proj (h·(h_n + h_v), r_kv), o_proj (d, h·h_v).
    """
    query = a.heads * (a.nope_dim + a.rope_dim)
    ranked = a.q_lora_rank
    return block(
        "attention",
        q_proj=Linear(d, query) if ranked is None else None,
        q_a_proj=None if ranked is None else Linear(d, ranked, a.bias),
        q_a_layernorm=None if ranked is None else rms_norm(ranked),
        q_b_proj=None if ranked is None else Linear(ranked, query),
        kv_a_proj_with_mqa=Linear(d, a.kv_lora_rank + a.rope_dim, a.bias),
        kv_a_layernorm=rms_norm(a.kv_lora_rank),
        kv_b_proj=Linear(a.kv_lora_rank, a.heads * (a.nope_dim + a.value_dim)),
        o_proj=Linear(a.heads * a.value_dim, d, a.bias),
        rotary_emb=inv_freq(a.rope_dim),
    )


def relative(d: int, a: GQA, rel: int, extent: int, kernel: int) -> Block:
    """Grouped-query attention with a learned logit per head and distance, for distances up to `extent` tokens.

    Tensors besides those of `gqa`: r_proj (h·rel, d), rel_logits_proj.proj (rel, extent), and short convolutions of
    keys and of values, k_sconv.conv1d and v_sconv.conv1d (h_kv·h_d, 1, kernel). Source: transformers 5.23,
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
    """A short convolution over the output of a part of a layer. Tensors: conv1d.weight (channels, 1, w)."""
    return block("attention", conv1d=conv1d(channels, kernel))
