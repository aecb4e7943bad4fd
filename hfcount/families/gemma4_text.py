"""Gemma 4, the language model: wider heads in global attention, shared keys and values (card of gemma-4-31B-it)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, rms_norm, swiglu, with_head
from hfcount.parts.gemma import experts_beside, lending_attention, per_layer_input, per_layer_tables
from hfcount.spec import Dense, Layer, Layers, MoE, Spec
from hfcount.tree.nodes import Block, block, buffer

# transformers 5.23: modeling_gemma4.py, modeling_gemma4_unified.py
MODEL_TYPES = ("gemma4_text", "gemma4_unified_text")


def spec(c: Config) -> Spec:
    unified = c.family == "gemma4_unified_text"
    bias, same = c.bool("attention_bias", default=False), c.bool("attention_k_eq_v", default=False)
    width = c.int("intermediate_size")
    wide = _network(c, 2 * width if c.bool("use_double_wide_mlp", default=False) else width)
    ffn, placed = _network(c, width), keys.local_and_global(c, period=6)
    layers = [
        Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn, traits={"values": int(local or not same)}))
        for indices, local, mixer in keys.attention_by_place(c, placed, bias, same)
    ]
    traits = {
        "per_layer": keys.sized("d_l", c.int("hidden_size_per_layer_input", default=0 if unified else 256, minimum=0))
    }
    if traits["per_layer"]:
        traits["per_layer_vocab"] = keys.sized("|V_l|", c.int("vocab_size_per_layer_input", default=262_144))
    lent = keys.shares_kv(c, layers, default=0, ffn=wide)
    size = keys.extent(c, "sliding_window", default=1024 if unified else 512)
    windows = [window for indices, local in placed if local and size for window in keys.within(indices, size)]
    whole = keys.decoder_spec(c, lent, tied=True, traits=traits, heads=("ForCausalLM", "Model"), windows=tuple(windows))
    return keys.seeing_both_ways(whole) if c.str("use_bidirectional_attention", default="") == "all" else whole


def _network(c: Config, width: int) -> Dense | MoE:
    if not c.bool("enable_moe_block", default=False):
        return Dense(width=width)
    return keys.moe(c, "moe_intermediate_size", active=("top_k_experts",)).but(shared=width)


def blueprint(s: Spec) -> Block:
    d, norm, per_layer = s.hidden, rms_norm(s.hidden), s.traits["per_layer"]

    def layer(one: Layer) -> Block:
        ffn, of = one.ffn, one.traits
        named = block(
            self_attn=lending_attention(d, one.attention, bool(of["values"]), one.shares_kv),
            mlp=swiglu(d, ffn.shared or 0 if isinstance(ffn, MoE) else one.dense.width),
            input_layernorm=norm,
            post_attention_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
            layer_scalar=buffer(1),
        )
        own = per_layer_input(d, per_layer) if per_layer else {}
        experts = experts_beside(d, ffn) if isinstance(ffn, MoE) else {}
        return Block({**named.children, **own, **experts})

    tables = per_layer_tables(d, s.depth, s.traits["per_layer_vocab"], per_layer) if per_layer else {}
    return with_head(s, Block({**base(s, layer).children, **tables}))
