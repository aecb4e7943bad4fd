"""LLaDA-MoE: a model of masked diffusion with experts, whose tokens see all others (arXiv:2509.24389)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, network, pre_norm, swiglu
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, Sizes, optional
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block

# modeling_lladamoe.py of inclusionAI/LLaDA-MoE-7B-A1B-Base, whose configs are of type llada
MODEL_TYPES = ("llada_moe",)
CLASSES = ("LLaDAMoEModelLM",)
IGNORED = tuple("clip_qkv moe_router_score_function routed_scaling_factor router_num_group router_topk_group".split())


class LladaMoe(Sizes):
    """How wide the network is that all tokens take beside the layer's own."""

    shared: int | None = optional("d_s", "shared_expert_intermediate_size")


def spec(c: Config) -> Spec[LladaMoe]:
    if c.bool("moe_router_enable_expert_bias", default=False):
        text = "moe_router_enable_expert_bias is true, which is not described."
        raise c.error("not-described", text, "moe_router_enable_expert_bias")
    normed, bias = c.bool("qk_layernorm", default=False), c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, qk_norm=normed, derived=True, indivisible="refused", alone=True)
    routed = c.ints("moe_layer_freq")
    few, many = keys.listing(c, "moe_layer_freq", routed, 0, 1)
    layers = keys.split(
        (few, lambda: Layer(mixer=mixer, ffn=Dense(width=c.int("dense_intermediate_size")))),
        (many, lambda: Layer(mixer=mixer, ffn=keys.moe(c, "expert_intermediate_size"))),
    )
    heads, sizes = keys.named(ModelLM="causal_lm"), LladaMoe.read(c)
    return keys.decoder_spec(c, layers, heads=heads).replace(causal=False).having(sizes)


def blueprint(s: Spec[LladaMoe]) -> Block:
    d, shared = s.hidden, s.own.shared

    def layer_block(layer: Layer) -> Block:
        own = pre_norm(
            d,
            self_attn=gqa(d, layer.attention),
            mlp=network(d, layer, lambda m: moe(d, m, swiglu(d, m.width, component="experts"))),
        )
        return altered(own, shared_expert=swiglu(d, shared)) if shared else own

    return decoder(s, layer_block)
