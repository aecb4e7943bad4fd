"""Sarvam 105B: latent attention, and fine-grained experts beside a shared one, as DeepSeek-V3 has them (its card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, mla, network, pre_norm, router, shared_moe
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Tensor

# sarvam.py of vllm-project/vllm 0.33.0; transformers 5.24: configuration_sarvam_mla.py, of DeepSeek-V3's classes
MODEL_TYPES = ("sarvam_mla",)
_EXPERTS = ("num_experts", "n_routed_experts")
IGNORED = ("embedding_dropout", "output_dropout", "router_dtype", "score_function")


class SarvamMla(Sizes):
    """Whether a bias that follows their load balances the experts."""

    moe_router_enable_expert_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[SarvamMla]:
    c = c.assuming({"intermediate_size": 16384, "q_lora_rank": None})
    mixer, sizes = keys.mla(c).replace(bias=False), SarvamMla.read(c)
    if not any(map(c.given, _EXPERTS)):
        layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c)), keys.layer_count(c))
        return keys.decoder_spec(c, layers, heads=("ForCausalLM",)).having(sizes)
    every = Indices.below(keys.layer_count(c))
    first = c.int("first_k_dense_replace", default=1, minimum=0, maximum=MAX_LAYERS)
    step = c.int("moe_layer_freq", default=1, minimum=1, maximum=MAX_LAYERS)
    routed = Indices.span(min(first, every.count), every.count, step)
    places = (every.difference(routed), routed)
    layers = keys.networks(c, places, lambda: _experts(c), mixer)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM",)).having(sizes)


def _experts(c: Config) -> MoE:
    routed = keys.moe(c, "moe_intermediate_size", experts=_EXPERTS)
    each = c.int("moe_shared_expert_intermediate_size", default=None) or c.int("moe_intermediate_size")
    shared = each * c.int("num_shared_experts", "n_shared_experts", default=1, minimum=0)
    return routed.replace(shared=shared or None)


def blueprint(s: Spec[SarvamMla]) -> Block:
    d, balanced = s.hidden, s.own.moe_router_enable_expert_bias

    def experts(m: MoE) -> Block:
        bias = Tensor((m.experts,)) if balanced else None
        return altered(shared_moe(d, m), gate=altered(router(d, m), e_score_correction_bias=bias))

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=mla(d, layer.latent), mlp=network(d, layer, experts))

    return decoder(s, layer_block)
