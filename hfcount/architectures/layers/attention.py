"""Softmax attention, plain and latent: read from a config, and its tensors."""

from collections.abc import Callable
from itertools import product
from typing import Literal

from hfcount.architectures.layers.mixers import conv1d
from hfcount.architectures.layers.norms import layer_norm, rms_norm
from hfcount.architectures.layers.sizes import divides, layer_count
from hfcount.architectures.layers.stacks import altered, indexing, listing
from hfcount.errors import ConfigError
from hfcount.mapper import MAX_LAYERS, UNSAID, Config
from hfcount.spec import GQA, MLA, Layer, Layers
from hfcount.spec.tree.dims import origin
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete

Indivisible = Literal["run", "built", "refused"]
"""How an implementation handles a width that is not a multiple of the heads: it rounds the heads' width down and runs
the model, builds a model that cannot run, or refuses the config."""


def attention(
    c: Config,
    *,
    bias: bool = False,
    qkv_bias: bool | None = None,
    out_bias: bool | None = None,
    qk_norm: bool | Literal["width"] = False,
    sinks: bool = False,
    gated: bool = False,
    head_dim: int | None = None,
    indivisible: Indivisible = "run",
    sharing: bool = True,
    derived: bool = False,
    alone: bool = False,
) -> GQA:
    """Grouped-query attention.

    Args:
        bias: whether the projections have a bias.
        qkv_bias, out_bias: override `bias` for the q/k/v and the output projections.
        head_dim: the default of head_dim; None means what the class declares, else hidden_size / num_attention_heads.
        indivisible: how the class handles heads that do not divide hidden_size, if there is no head_dim.
        derived: whether head_dim is ignored, and always hidden_size / num_attention_heads.
        sharing: whether num_attention_heads share num_key_value_heads; False if the heads differ per layer.
        alone: whether num_key_value_heads defaults to num_attention_heads.
    """
    heads = c.int("num_attention_heads")
    usual = {"default": heads} if alone else {}
    kv_heads = heads if c.is_null("num_key_value_heads") else c.int("num_key_value_heads", **usual)
    width = None if derived else c.int("head_dim", default=UNSAID if head_dim is None else head_dim)
    if width is None:
        hidden = c.int("hidden_size")
        text = f"hidden_size {hidden:,} is not a multiple of num_attention_heads {heads:,}, and there is no head_dim"
        _settle(c, indivisible if hidden % heads else "run", f"{text} to go by.", "hidden_size", "Correct one of them.")
        width = hidden // heads
    if sharing:
        grouped(c, heads, kv_heads)
    return GQA(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=width,
        qkv_bias=bias if qkv_bias is None else qkv_bias,
        out_bias=bias if out_bias is None else out_bias,
        qk_norm=qk_norm,
        sinks=sinks,
        gated=gated,
    )


def gate_per_head(c: Config) -> bool:
    """Whether `gating` means one gate per head (the default), not one per element."""
    try:
        return c.bool("gating", default=True)
    except ConfigError:
        return c.str("gating") == "per-head"


def _settle(c: Config, indivisible: Indivisible, text: str, key: str, fix: str) -> None:
    if indivisible == "refused":
        raise c.error("not-divisible", text, key, fix)
    if indivisible == "built":
        c.cannot_run("not-divisible", text, key, fix)


def grouped(c: Config, heads: int, kv_heads: int) -> None:
    """Reports heads that cannot share keys and values evenly."""
    if heads % kv_heads:
        key, shared = _key(heads, "num_attention_heads"), _key(kv_heads, "num_key_value_heads")
        text = f"{key} {heads:,} is not a multiple of {shared} {kv_heads:,}, so the heads cannot share keys and values."
        c.cannot_run("not-divisible", text, shared, "Correct one of them.")


def _key(number: int, usual: str) -> str:
    """The key that a number was read from, without its path; `usual` if the number was computed."""
    key = origin(number).partition(",")[0].rpartition(".")[2]
    return key if key.isidentifier() else usual


def multi_head(
    c: Config,
    width: int,
    heads: int,
    *,
    bias: bool = True,
    qkv_bias: bool | None = None,
    out_bias: bool | None = None,
    indivisible: Indivisible = "refused",
    own_width: bool = False,
) -> GQA:
    """Multi-head attention (arXiv:1706.03762): `heads` share `width`, each with its own keys and values.

    Args:
        indivisible: how the class handles heads that do not divide `width`.
        own_width: whether head_dim, if present, is the width of a head.
        bias: whether the projections have a bias.
        qkv_bias, out_bias: override `bias` for the q/k/v and the output projections.
    """
    text = f"the width {width:,} is not a multiple of the {heads:,} attention heads, which share it."
    head_dim = c.int("head_dim", default=None) if own_width else None
    if head_dim is None:
        _settle(c, indivisible if width % heads else "run", text, "num_attention_heads", "Correct one of them.")
    return GQA(
        heads=heads,
        kv_heads=heads,
        head_dim=width // heads if head_dim is None else head_dim,
        qkv_bias=bias if qkv_bias is None else qkv_bias,
        out_bias=bias if out_bias is None else out_bias,
    )


def wide_attention(c: Config) -> GQA:
    """Attention over hidden state and embedding, concatenated; heads are 2 · hidden_size / heads wide by default."""
    heads, hidden = c.int("num_attention_heads"), c.int("hidden_size")
    width = c.int("attention_head_dim", default=None)
    if width is None:
        width = divides(c, "num_attention_heads", heads, "2 · hidden_size", 2 * hidden)
    kv_heads = c.int("num_key_value_heads", default=heads)
    grouped(c, heads, kv_heads)
    return GQA(heads=heads, kv_heads=kv_heads, head_dim=width)


def read_mla(c: Config, value_dim: int | None = None) -> MLA:
    """Multi-head latent attention; `value_dim` is the default of v_head_dim, which None makes required."""
    c.without_effect("num_key_value_heads", "head_dim", "qk_head_dim")
    return MLA(
        heads=c.int("num_attention_heads"),
        q_lora_rank=None if c.is_null("q_lora_rank") else c.int("q_lora_rank"),
        kv_lora_rank=c.int("kv_lora_rank"),
        nope_dim=c.int("qk_nope_head_dim"),
        rope_dim=c.int("qk_rope_head_dim"),
        value_dim=c.int("v_head_dim") if value_dim is None else c.int("v_head_dim", default=value_dim),
        bias=c.bool("attention_bias", default=False),
    )


def indexed(c: Config, latent: MLA) -> tuple[MLA, MLA]:
    """Latent attention over selected tokens: first for layers with an indexer, then for layers without."""
    without = latent.replace(q_lora_rank=c.int("q_lora_rank"), top_k=c.int("index_topk", default=2048))
    return without.replace(index_heads=c.int("index_n_heads"), index_dim=c.int("index_head_dim")), without


def prefixed_attention(c: Config, prefix: str) -> GQA:
    """Attention with normalised queries and keys, read from config keys that begin with `prefix`."""
    heads, kv_heads = c.int(f"{prefix}num_attention_heads"), c.int(f"{prefix}num_key_value_heads")
    grouped(c, heads, kv_heads)
    return GQA(heads=heads, kv_heads=kv_heads, head_dim=c.int(f"{prefix}head_dim"), qk_norm=True)


def latent_by_place(c: Config, rotated: MLA) -> list[Layers]:
    """Layers of latent attention: with rotary positions or without, own or shared keys and values, an indexer or none.

    Source: transformers 5.23, configuration_mistral_large4.py, MistralLarge4TextConfig.
    """
    count, every = layer_count(c), Indices.below(layer_count(c))
    period = c.int("no_rope_layer_interval", default=4, minimum=1, maximum=MAX_LAYERS)
    plain = [Indices.span(period - 1, count, period)]
    if given := c.ints("no_rope_layers"):
        plain = listing(c, "no_rope_layers", [int(bool(part)) for part in given], 0, 1)[:1]
    sources = c.ints("kv_source_layers")
    if sources and len(sources) != count:
        raise c.unequal("kv_source_layers", len(sources), "num_hidden_layers", count)
    lent = [Indices.of(place for place, source in enumerate(sources) if place != source)]
    without, shared, indexes = (_split(every, some) for some in (plain, lent, indexing(c)))
    still = rotated.replace(nope_dim=rotated.nope_dim + rotated.rope_dim, rope_dim=0)
    heads, width = c.int("index_n_heads"), c.int("index_head_dim")
    made = []
    for (part, unrotated), (other, lends), (third, chooses) in product(without, shared, indexes):
        places = intersection(intersection(part, other), third)
        mixer = still if unrotated else rotated
        variant = mixer.replace(index_heads=heads, index_dim=width) if chooses else mixer
        if places.count:
            made.append(Layers(indices=places, layer=Layer(mixer=variant, shares_kv=lends)))
    return made


def _split(every: Indices, some: list[Indices]) -> list[tuple[Indices, bool]]:
    """The layers in `some` (True), and the others (False)."""
    return [*((part, True) for part in some), (every.difference(*some), False)]


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
    as in `a`, with `qk_norm` q_norm and k_norm (h_d, or the whole width), with `sinks` sinks (h). transformers
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
    """Queries, keys and values in one projection. Tensors: weight ((h + 2·h_kv)·h_d, d), with a bias if a.qkv_bias."""
    return Linear(d, a.heads * a.head_dim + 2 * (a.kv_heads * a.head_dim), a.qkv_bias)


def inv_freq(rotary_dim: int) -> Block:
    """Rotary frequencies, stored by earlier versions of transformers. Tensors: inv_freq (rotary_dim/2)."""
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
    """A short convolution over the output of attention or network. Tensors: conv1d.weight (channels, 1, w)."""
    return block("attention", conv1d=conv1d(channels, kernel))


def indexer(d: int, a: MLA) -> Block:
    """The lightning indexer, which selects tokens for sparse attention (arXiv:2512.02556).

    Tensors: wq_b (h_i·h_di, r_q), wk (h_di, d), k_norm weight and bias (h_di), weights_proj (h_i, d).
    """
    heads, head_dim = a.index_heads or 0, a.index_dim or 0
    return block(
        wq_b=Linear(a.q_lora_rank or d, heads * head_dim),
        wk=Linear(d, head_dim),
        k_norm=layer_norm(head_dim),
        weights_proj=Linear(d, heads),
    )
