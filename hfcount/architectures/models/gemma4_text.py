"""Gemma 4, the language model: wider heads in global attention, shared keys and values (card of gemma-4-31B-it)."""

from hfcount.architectures import keys
from hfcount.architectures.components.gemma import (
    attention_by_place,
    experts_beside,
    lending_attention,
    local_and_global,
    per_layer_input,
    per_layer_tables,
    shares_kv,
)
from hfcount.architectures.layers import altered, base, swiglu, with_head
from hfcount.architectures.layers.sandwich import sandwich_norm
from hfcount.mapper import Config, Sizes, derived
from hfcount.spec import Dense, Layer, Layers, MoE, Record, Spec
from hfcount.spec.tree.nodes import Block, buffer

# transformers 5.23: modeling_gemma4.py, modeling_gemma4_unified.py
MODEL_TYPES = ("gemma4_text", "gemma4_unified_text")


class PerLayer(Record):
    """An embedding of every token for every layer: its width, and its rows."""

    width: int
    vocab: int


def _per_layer(c: Config) -> PerLayer | None:
    default = 0 if c.family == "gemma4_unified_text" else 256
    width = keys.dim("d_l", c.int("hidden_size_per_layer_input", default=default, minimum=0))
    if not width:
        return None
    return PerLayer(width=width, vocab=keys.dim("|V_l|", c.int("vocab_size_per_layer_input", default=262_144)))


class Gemma4Text(Sizes):
    per_layer: PerLayer | None = derived(_per_layer)


class Gemma4Layer(Record):
    """Whether a layer has a projection of values, which otherwise are its keys."""

    values: bool


def spec(c: Config) -> Spec[Gemma4Text]:
    unified = c.family == "gemma4_unified_text"
    bias, same = c.bool("attention_bias", default=False), c.bool("attention_k_eq_v", default=False)
    width = c.int("intermediate_size")
    wide = _network(c, 2 * width if c.bool("use_double_wide_mlp", default=False) else width)
    ffn, placed = _network(c, width), local_and_global(c, period=6)
    layers = [
        Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn, own=Gemma4Layer(values=local or not same)))
        for indices, local, mixer in attention_by_place(c, placed, bias, same)
    ]
    sizes = Gemma4Text.read(c)
    lent = shares_kv(c, layers, default=0, ffn=wide)
    size = keys.extent(c, "sliding_window", default=1024 if unified else 512)
    windows = [window for indices, local in placed if local and size for window in keys.within(indices, size)]
    model = keys.decoder_spec(c, lent, tied=True, heads=("ForCausalLM", "Model"), windows=tuple(windows))
    both_ways = c.str("use_bidirectional_attention", default="") == "all"
    return (keys.seeing_both_ways(model) if both_ways else model).having(sizes)


def _network(c: Config, width: int) -> Dense | MoE:
    if not c.bool("enable_moe_block", default=False):
        return Dense(width=width)
    return keys.moe(c, "moe_intermediate_size", active=("top_k_experts",)).replace(shared=width)


def blueprint(s: Spec[Gemma4Text]) -> Block:
    d, per_layer = s.hidden, s.own.per_layer

    def layer_block(layer: Layer) -> Block:
        ffn = layer.ffn
        body = sandwich_norm(
            d,
            self_attn=lending_attention(d, layer.attention, layer.sizes(Gemma4Layer).values, layer.shares_kv),
            mlp=swiglu(d, ffn.shared or 0 if isinstance(ffn, MoE) else layer.dense.width),
        )
        inputs = per_layer_input(d, per_layer.width) if per_layer else {}
        experts = experts_beside(d, ffn) if isinstance(ffn, MoE) else {}
        return altered(body, layer_scalar=buffer(1), **inputs, **experts)

    tables = per_layer_tables(d, s.depth, per_layer.vocab, per_layer.width) if per_layer else {}
    return with_head(s, Block({**base(s, layer_block).children, **tables}))
