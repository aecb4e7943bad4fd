"""IQuest-Q1: balanced norms around attention and experts, sinks of keys, windows in three of four layers."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, base, gqa, rms_norm, stacked, swiglu, with_head
from hfcount.architectures.layers.ffn import router
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag
from hfcount.spec import Dense, Layer, MoE, Spec, Window
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("iquest_q1",)  # iquest_q1.py of sgl-project/sglang 0.5.23, and its configs/iquest_q1.py
IGNORED = tuple(
    "attn_out_scale ffn_out_scale first_layer_attn_out_scale first_layer_ffn_out_scale enable_lm_head_fp32"
    " moe_router_dtype no_rope_layers rotary_dim softmax_scale swa_rope_theta".split()
)


class IquestQ1(Sizes):
    """Whether each key/value head has a key that every token attends to."""

    enable_sink_attention: bool = flag(absent=True)


def spec(c: Config) -> Spec[IquestQ1]:
    if c.bool("use_over_encoding", default=False):
        raise UnknownArchitecture(f"{c.where}: iquest_q1 is not described with use_over_encoding.")
    if c.int("num_mtp_layers", default=0, minimum=0, maximum=MAX_LAYERS):
        raise UnknownArchitecture(f"{c.where}: iquest_q1 is not described with num_mtp_layers.")
    mixer, count = keys.attention(c, qk_norm=True, head_dim=128), keys.layer_count(c)
    given = c.ints("mlp_only_layers") if c.given("mlp_only_layers") else [0]
    only = keys.among(c, "mlp_only_layers", given, count)
    few, many = only, Indices.below(count).difference(only)

    def experts() -> MoE:
        return keys.moe(c, "intermediate_size", experts=("num_experts",))

    networks = keys.split(
        (few, lambda: Layer(ffn=Dense(width=c.int("dense_intermediate_size")))), (many, lambda: Layer(ffn=experts()))
    )
    first, rest = Indices.below(1), Indices.span(1, count)
    mixers = keys.split((first, lambda: Layer(mixer=mixer, first=True)), (rest, lambda: Layer(mixer=mixer)))
    layers, windows = keys.combined(mixers, networks), _windows(c)
    sizes = IquestQ1.read(c)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), windows=windows).having(sizes)


def _windows(c: Config) -> tuple[Window, ...]:
    """Windows by the kinds of the first layers, of a block of layers that is repeated, and of the last layers."""
    full, near = "full_attention", "sliding_attention"
    first = c.strs("first_layers_types") or [full]
    between = c.strs("hybrid_layers_types_block") or [full, near, near, near]
    last = c.strs("last_layers_types") or [full, full, full]
    times = c.int("num_hybrid_layers_block", default=21, minimum=0, maximum=MAX_LAYERS)
    extent = keys.extent(c, "sliding_window", default=4096)
    if not (c.bool("use_hybrid_layers", default=True) and c.bool("use_sliding_window", default=True) and extent):
        return ()
    count, start = keys.layer_count(c), len(first)
    end = start + len(between) * times
    if end + len(last) != count:
        key, given = "num_hybrid_layers_block", end + len(last)
        raise c.unequal(key, int(given), "num_hidden_layers", count)
    some = [Indices.span(start + place, end, len(between)) for place, kind in enumerate(between) if kind == near]
    places = [*(place for place, kind in enumerate(first) if kind == near)]
    places += [end + place for place, kind in enumerate(last) if kind == near]
    return tuple(window for part in (*some, Indices.of(places)) for window in keys.within(part, extent))


def blueprint(s: Spec[IquestQ1]) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def network(layer: Layer) -> Block:
        if not isinstance(layer.ffn, MoE):
            return swiglu(d, layer.dense.width)
        m = layer.ffn
        packed = block(fc=stacked(m, 2 * m.width, d), proj=stacked(m, d, m.width))
        return block(router=router(d, m), experts=packed)

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        sinks = Tensor((a.kv_heads, a.head_dim)) if s.own.enable_sink_attention else None
        return block(
            attention_norm=norm,
            self_attn=altered(gqa(d, a), sink_k=sinks),
            attn_out_norm=norm,
            feed_forward_norm=norm,
            mlp=network(layer),
            ffn_out_norm=norm if layer.first else None,
        )

    return with_head(s, base(s, layer_block))
