"""Ling: fine-grained experts, routed and shared, in the second version balanced and with norms (arXiv:2503.05139)."""

from hfcount.architectures import keys
from hfcount.architectures.components import ling
from hfcount.architectures.components.ling import bailing_experts
from hfcount.architectures.layers import altered, network, pre_norm
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block

# modeling_bailing_moe.py of inclusionAI/Ling and, for routers of images and sounds, modeling_bailing_moe.py and
# modeling_bailing_moe_v2.py of inclusionAI/Ming
MODEL_TYPES = ("bailing_moe", "bailing_moe_v2")
PREDICTORS = ("BailingMoeForCausalLMNextN",)
IGNORED = ("norm_head", "norm_softmax", "use_rmsnorm")


class BailingMoe(Sizes):
    """Whether a bias balances the experts by their load; images and sounds may have routers of `their_own`."""

    balanced: bool
    their_own: bool


def spec(c: Config) -> Spec[BailingMoe]:
    second, bias = c.family == "bailing_moe_v2", c.bool("use_bias", default=False)
    qkv = c.bool("use_qkv_bias", default=False)
    mixer = keys.attention(c, qkv_bias=qkv, out_bias=bias, qk_norm=c.bool("use_qk_norm", default=second))

    def experts() -> MoE:
        return bailing_experts(c)

    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=0, listed=None)
    layers = keys.networks(c, places, experts, mixer, bias=False)
    balanced, their_own = c.bool("moe_router_enable_expert_bias", default=second), c.bool("multi_gate", default=False)
    if second and c.str("router_type", default="topN") == "MultiRouter":
        their_own = True
    sizes = BailingMoe.read(c, balanced=balanced, their_own=their_own)
    ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=experts()))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), parts=ahead).having(sizes)


def blueprint(s: Spec[BailingMoe]) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        moe = ling.experts(d, m, s.own.balanced)
        gate = ling.gate(d, m, s.own.balanced)
        return altered(moe, image_gate=gate, audio_gate=gate) if s.own.their_own else moe

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, attention=ling.fused(d, layer.attention), mlp=network(d, layer, sparse))

    return ling.model(s, layer_block)
