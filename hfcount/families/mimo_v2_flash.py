"""MiMo-V2-Flash: full and sliding attention with different heads, values narrower than keys (arXiv:2601.02780)."""

from collections.abc import Callable, Iterator

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, network, pre_norm, shared_moe
from hfcount.spec import FeedForward, Layer, Spec
from hfcount.tree.indices import Indices, intersection
from hfcount.tree.nodes import Block

MODEL_TYPES = ("mimo_v2_flash",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    width, value = None if c.is_null("head_dim") else 192, c.int("v_head_dim")
    sinks = c.bool("add_full_attention_sink_bias", default=False)
    full = keys.attention(c, qkv_bias=bias, head_dim=width).but(sinks=sinks, value_dim=value)
    sliding = full.but(
        heads=c.int("swa_num_attention_heads", default=full.heads),
        kv_heads=c.int("swa_num_key_value_heads", default=2 * full.kv_heads),
        head_dim=c.int("swa_head_dim", default=full.head_dim),
        value_dim=c.int("swa_v_head_dim", default=value),
        sinks=c.bool("add_swa_attention_sink_bias", default=True),
    )

    def dense() -> FeedForward:
        return keys.dense(c)

    def sparse() -> FeedForward:
        return keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts", "num_local_experts", "num_experts"))

    def kinds(places: Indices, ffn: Callable[[], FeedForward]) -> Iterator[tuple[Indices, Callable[[], Layer]]]:
        parts = [intersection(part, places) for part in _full(c)]
        yield from ((part, lambda: Layer(mixer=full, ffn=ffn())) for part in parts)
        yield places.difference(*parts), lambda: Layer(mixer=sliding, ffn=ffn())

    routed = [] if c.strs("mlp_layer_types") else c.ints("moe_layer_freq")
    marked = keys.listing(c, "moe_layer_freq", routed, 0, 1) if routed else keys.dense_and_sparse(c, default=1)
    layers = keys.split(c, *kinds(marked[0], dense), *kinds(marked[1], sparse))
    # Of the two names, one counts the tokens before the present one.
    before = keys.extent(c, "sliding_window_size")
    size = before + 1 if before else keys.extent(c, "sliding_window", 129)
    return keys.decoder_spec(c, layers, windows=keys.within(keys.other_than(c, *_full(c)), size) if size else ())


def _full(c: Config) -> list[Indices]:
    """The layers with full attention: those that the config lists, else the first and every sixth."""
    if kinds := c.strs("layer_types"):
        return keys.listing(c, "layer_types", kinds, "full_attention", "sliding_attention")[:1]
    if pattern := c.ints("hybrid_layer_pattern"):
        return keys.listing(c, "hybrid_layer_pattern", pattern, 0, 1)[:1]
    return [Indices.below(1), Indices.of(range(5, keys.layer_count(c), 6))]


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=gqa(d, one.attention, sinks="attention_sink_bias"),
            mlp=network(d, one, lambda m: shared_moe(d, m, balanced=True)),
        )

    return decoder(s, layer)
