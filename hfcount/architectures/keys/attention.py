"""Softmax attention, plain and latent."""

from typing import Literal

from hfcount.architectures.keys.sizes import divides
from hfcount.errors import ConfigError
from hfcount.mapper import UNSAID, Config
from hfcount.spec import GQA, MLA
from hfcount.spec.tree.dims import origin

Indivisible = Literal["run", "built", "refused"]
"""What an implementation does with a width that its heads do not divide: it rounds theirs down, and the model is run;
it builds one that cannot run; or it refuses the config."""


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
        indivisible: what becomes of a config whose heads do not divide hidden_size, if it gives no head_dim.
        derived: whether head_dim is not read, and hidden_size / num_attention_heads in any case.
        sharing: whether num_attention_heads share num_key_value_heads; not where each layer has heads of its own.
        alone: whether each head has keys and values of its own if there is no num_key_value_heads.
    """
    heads = c.int("num_attention_heads")
    usual = {"default": heads} if alone else {}
    kv_heads = heads if c.is_null("num_key_value_heads") else c.int("num_key_value_heads", **usual)
    width = None if derived else c.int("head_dim", default=UNSAID if head_dim is None else head_dim)
    if width is None:
        hidden = c.int("hidden_size")
        said = f"hidden_size {hidden:,} is not a multiple of num_attention_heads {heads:,}, and there is no head_dim"
        _settle(c, indivisible if hidden % heads else "run", f"{said} to go by.", "hidden_size", "Correct one of them.")
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
    """Whether `gating` asks for one gate per head, and not one per element; it does by default."""
    try:
        return c.bool("gating", default=True)
    except ConfigError:
        return c.str("gating") == "per-head"


def _settle(c: Config, indivisible: Indivisible, said: str, key: str, fix: str) -> None:
    if indivisible == "refused":
        raise c.error("not-divisible", said, key, fix)
    if indivisible == "built":
        c.cannot_run("not-divisible", said, key, fix)


def grouped(c: Config, heads: int, kv_heads: int) -> None:
    """Notes heads that cannot share keys and values evenly, by the keys that their numbers were read from."""
    if heads % kv_heads:
        own, shared = _key(heads, "num_attention_heads"), _key(kv_heads, "num_key_value_heads")
        said = f"{own} {heads:,} is not a multiple of {shared} {kv_heads:,}, so the heads cannot share keys and values."
        c.cannot_run("not-divisible", said, shared, "Correct one of them.")


def _key(number: int, usual: str) -> str:
    """The key, within its own object, that a number was read from; `usual` if it was made of others."""
    found = origin(number).partition(",")[0].rpartition(".")[2]
    return found if found.isidentifier() else usual


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
        indivisible: what becomes of a config whose heads do not divide `width`.
        own_width: whether head_dim, if given, is the width of a head.
        bias: whether the projections have a bias.
        qkv_bias, out_bias: override `bias` for the q/k/v and the output projections.
    """
    said = f"the width {width:,} is not a multiple of the {heads:,} attention heads, which share it."
    own = c.int("head_dim", default=None) if own_width else None
    if own is None:
        _settle(c, indivisible if width % heads else "run", said, "num_attention_heads", "Correct one of them.")
    return GQA(
        heads=heads,
        kv_heads=heads,
        head_dim=width // heads if own is None else own,
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


def mla(c: Config, value_dim: int | None = None) -> MLA:
    """Multi-head latent attention; `value_dim` is the default of v_head_dim, which None makes required."""
    for derived in ("num_key_value_heads", "head_dim", "qk_head_dim"):
        c.int(derived, default=None)  # present in configs, without effect
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
    """Latent attention over selected tokens: for layers that have an indexer, and for layers that do not."""
    without = latent.replace(q_lora_rank=c.int("q_lora_rank"), top_k=c.int("index_topk", default=2048))
    return without.replace(index_heads=c.int("index_n_heads"), index_dim=c.int("index_head_dim")), without


def prefixed_attention(c: Config, prefix: str) -> GQA:
    """Attention with normalised queries and keys, read from config keys that begin with `prefix`."""
    heads, kv_heads = c.int(f"{prefix}num_attention_heads"), c.int(f"{prefix}num_key_value_heads")
    grouped(c, heads, kv_heads)
    return GQA(heads=heads, kv_heads=kv_heads, head_dim=c.int(f"{prefix}head_dim"), qk_norm=True)
