"""openPangu with experts: Ultra has latent attention, Pro sinks with keys of their own or none (arXiv:2505.04519)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, mla, network, pre_norm, predicting, rms_norm, shared_moe
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, MLA, Layer, Layers, MoE, Spec, Window
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# openpangu.py of vllm-project/vllm 0.33.0, openpangu_mtp.py beside it and, where experts are counted under
# num_experts, torchair_pangu_moe.py of vllm-project/vllm-ascend 0.11.0
MODEL_TYPES = ("pangu_ultra_moe", "PanguProMoE", "PanguProMoEV2")
CLASSES = ("PanguUltraMoEForCausalLM", "PanguProMoEForCausalLM", "PanguProMoEV2ForCausalLM")
PREDICTORS = ("OpenPanguMTPModel",)
IGNORED = ("param_sink_of_head_dim", "param_sink_scalar", "routed_scaling_factor")


class Pangu(Sizes):
    """Sizes specific to openPangu: norms behind both branches, experts balanced by a bias, and keys that are sinks."""

    sandwich_norm: bool = flag(absent=False)
    balanced: bool = flag("router_enable_expert_bias", absent=False)
    sinks: int = size("n_s", "param_sink_number", absent=0, minimum=0)
    sink_values: bool = flag("param_sink_with_value", absent=False)
    first: bool  # whether it is Pro as it was first, which scales the scores of its router


def spec(c: Config) -> Spec[Pangu]:
    first, ahead = c.family == "PanguProMoE" and c.given("num_experts") and not c.given("n_routed_experts"), {}
    sizes = Pangu.read(c, first=first)
    if first:
        layers = _first(c)
    else:
        mixer = _latent(c) if c.has("kv_lora_rank") or c.has("attention_kv_lora_dim") else _attention(c, sizes.sinks)
        names, wide = ("first_k_dense_replace", "num_dense_layers"), c.bool("mlp_bias", default=False)
        few = keys.dense_and_sparse(c, *names, listed=None)
        layers = keys.networks(c, few, lambda: _experts(c), mixer, bias=wide)
        ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=_experts(c)))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), windows=_windows(c), parts=ahead).having(sizes)


def _first(c: Config) -> list[Layers]:
    """The layers of Pro as it was first, whose attention has biases in all projections."""
    mixer = keys.attention(c, bias=True, derived=True, indivisible="refused")
    shared = c.int("shared_expert_intermediate_size", minimum=0) or None
    dense = keys.numbered(c, "mlp_only_layers")
    places = dense, Indices.below(keys.layer_count(c)).difference(dense)
    experts = ("num_experts",)
    routed = keys.moe(c, "moe_intermediate_size", experts=experts).replace(shared=shared)
    return keys.networks(c, places, lambda: routed, mixer)


def _experts(c: Config) -> MoE:
    experts, shared = ("n_routed_experts", "num_routed_experts"), ("n_shared_experts", "num_shared_experts")
    m = keys.moe(c, "moe_intermediate_size", experts=experts, shared=shared)
    return m if m.shared else m.replace(shared=None)


def _latent(c: Config) -> MLA:
    c.without_effect("num_key_value_heads", "head_dim")
    rank = "q_lora_rank" if c.has("q_lora_rank") else "attention_q_lora_dim"
    return MLA(
        heads=c.int("num_attention_heads"),
        q_lora_rank=c.int(rank, default=None),
        kv_lora_rank=c.int("kv_lora_rank", "attention_kv_lora_dim"),
        nope_dim=c.int("qk_nope_head_dim", "attention_qk_dim"),
        rope_dim=c.int("qk_rope_head_dim", "attention_qk_rope_dim"),
        value_dim=c.int("v_head_dim", "attention_v_dim"),
    )


def _attention(c: Config, sinks: int) -> GQA:
    bias = c.bool("attention_bias", default=False) or c.bool("bias", default=False)
    mixer = keys.attention(c, qkv_bias=c.bool("qkv_bias", default=bias), out_bias=bias, alone=True)
    if not sinks:
        return mixer
    width = c.int("qk_nope_dim") + c.int("qk_rope_dim")
    return mixer.replace(head_dim=width, value_dim=c.int("v_channels"))


def _windows(c: Config) -> tuple[Window, ...]:
    """A window for all layers, or for each of so many in turn."""
    given, count = c.ints("interleaved_sliding_window", alone=True), keys.layer_count(c)
    step = len(given)
    turns = [(Indices.of(range(place, int(count), step)), extent) for place, extent in enumerate(given)]
    return tuple(Window(indices=places, extent=extent) for places, extent in turns if extent > 0 and places.count)


def blueprint(s: Spec[Pangu]) -> Block:
    d, of = s.hidden, s.own

    def attention(layer: Layer) -> Block:
        if isinstance(layer.mixer, MLA):
            return mla(d, layer.mixer)
        a = layer.attention
        if not of.sinks:
            return gqa(d, a)
        value = a.head_dim if a.value_dim is None else a.value_dim
        made = a.heads * a.head_dim + a.kv_heads * a.head_dim + a.kv_heads * value
        return block(
            "attention",
            qkv_proj=Linear(d, made, a.qkv_bias),
            o_proj=Linear(a.heads * value, d, a.out_bias),
            k_layernorm=rms_norm(a.head_dim),
            param_sink_key=Tensor((of.sinks, a.kv_heads, a.head_dim)),
            param_sink_value=Tensor((of.sinks, a.kv_heads, value)) if of.sink_values else None,
        )

    def experts(m: MoE) -> Block:
        if of.first:
            return altered(shared_moe(d, m, "shared_expert"), router_scale=Tensor((1, m.experts), component="router"))
        bias = Tensor((m.experts,), component="router") if of.balanced else None
        return altered(shared_moe(d, m), e_score_correction_bias=bias)

    def layer_block(layer: Layer) -> Block:
        both = {"pre_mlp_layernorm": rms_norm(d), "post_mlp_layernorm": rms_norm(d)} if of.sandwich_norm else {}
        body = altered(pre_norm(d, self_attn=attention(layer), mlp=network(d, layer, experts)), **both)
        return predicting(s, layer, body)

    return decoder(s, layer_block)
