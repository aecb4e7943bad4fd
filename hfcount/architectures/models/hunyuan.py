"""Hunyuan as first released, Large among them: layers may read an earlier one's keys and values (arXiv:2411.02265)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, experts, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("hunyuan",)  # modeling_hunyuan.py of Tencent/Tencent-Hunyuan-Large, and configuration_hunyuan.py there
IGNORED = ("capacity_factor", "moe_drop_tokens", "moe_random_routing_dropped_token", "attention_head_dim")


class Hunyuan(Sizes):
    use_qk_norm: bool = flag(absent=False)


def spec(c: Config) -> Spec[Hunyuan]:
    c.assuming({"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32})
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, derived=True, indivisible="refused", alone=True)
    layer = Layer(mixer=mixer, ffn=_experts(c) or keys.dense(c))
    every = Indices.below(keys.layer_count(c))
    shared = c.bool("use_cla", default=False)
    if not shared:
        c.without_effect("cla_share_factor")
    step = c.int("cla_share_factor", default=1, minimum=1) if shared else 1
    making = Indices.span(0, every.count, step)
    reading = every.difference(making)
    layers = keys.split((making, lambda: layer), (reading, lambda: layer.replace(shares_kv=True)))
    heads = ("ForCausalLM", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, layers if step > 1 else layer, heads=heads).having(Hunyuan.read(c))


def _experts(c: Config) -> MoE | None:
    """The experts of every layer, if there is more than one."""
    among = c.int("num_experts", default=1)
    if among == 1:
        c.without_effect("moe_topk", "num_shared_expert", "use_mixed_mlp_moe")
        return None
    width, times = c.int("intermediate_size"), keys.dim("n_s", c.int("num_shared_expert", default=1))
    shared = width * times if c.bool("use_mixed_mlp_moe", default=False) else None
    active = keys.at_most(c, "moe_topk", c.int("moe_topk", default=1), among)
    return MoE(experts=among, active=active, width=width, shared=shared)


def blueprint(s: Spec[Hunyuan]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, norm = layer.attention, rms_norm(layer.attention.head_dim) if s.own.use_qk_norm else None
        attention = altered(gqa(d, a), query_layernorm=norm, key_layernorm=norm)
        if layer.shares_kv:
            attention = altered(attention, k_proj=None, v_proj=None)
        if not isinstance(m := layer.ffn, MoE):
            return pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width))
        mixed = block(
            gate=block("router", wg=Linear(d, m.experts)),
            experts=experts(m, swiglu(d, m.width, component="experts")),
            shared_mlp=swiglu(d, m.shared) if m.shared else None,
        )
        return pre_norm(d, self_attn=attention, mlp=mixed)

    return decoder(s, layer_block)
