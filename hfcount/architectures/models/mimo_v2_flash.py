"""MiMo-V2-Flash: full and sliding attention with different heads, values narrower than keys (arXiv:2601.02780)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, network, pre_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("mimo_v2_flash",)  # transformers 5.23: modeling_mimo_v2_flash.py
IGNORED = ("swa_rope_theta",)
SPELLINGS = {r"self_attn\.attention_sink_bias$": "self_attn.sinks"}
MERGED = packed()


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    width, value = None if c.is_null("head_dim") else 192, c.int("v_head_dim")
    sinks = c.bool("add_full_attention_sink_bias", default=False)
    full = keys.attention(c, qkv_bias=bias, head_dim=width).replace(sinks=sinks, value_dim=value)
    sliding = full.replace(
        heads=c.int("swa_num_attention_heads", default=full.heads),
        kv_heads=c.int("swa_num_key_value_heads", default=2 * full.kv_heads),
        head_dim=c.int("swa_head_dim", default=full.head_dim),
        value_dim=c.int("swa_v_head_dim", default=value),
        sinks=c.bool("add_swa_attention_sink_bias", default=True),
    )

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts", "num_local_experts", "num_experts"))

    routed = [] if c.strs("mlp_layer_types") else c.ints("moe_layer_freq")
    few, many = keys.listing(c, "moe_layer_freq", routed, 0, 1) if routed else keys.dense_and_sparse(c, default=1)
    layers = keys.combined(keys.networks(c, (few, many), experts), keys.by_place(c, _full(c), full, sliding))
    # Of the two names, one counts the tokens before the present one.
    before = keys.extent(c, "sliding_window_size")
    size = before + 1 if before else keys.extent(c, "sliding_window", default=129)
    return keys.decoder_spec(c, layers, windows=keys.within(keys.other_than(c, *_full(c)), size) if size else ())


def _full(c: Config) -> list[Indices]:
    """The layers with full attention: those that the config lists, else the first and every sixth."""
    if kinds := c.strs("layer_types"):
        full, _ = keys.listing(
            c, "layer_types", kinds, "full_attention", "sliding_attention", otherwise="full_attention"
        )
        return [full]
    if pattern := c.ints("hybrid_layer_pattern"):
        return keys.listing(c, "hybrid_layer_pattern", pattern, 0, 1)[:1]
    return [Indices.below(1), Indices.span(5, keys.layer_count(c), 6)]


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention, sinks="attention_sink_bias"),
            mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True)),
        )

    return decoder(s, layer_block)
