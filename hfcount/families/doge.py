"""Doge: attention that learns which tokens to see, weighed residuals, experts of one neuron (arXiv:2412.11834)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, network, rms_norm
from hfcount.parts.layers import altered, neurons
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("doge",)


def spec(c: Config) -> Spec:
    bias, mlp_bias = c.bool("attention_bias", default=False), c.bool("mlp_bias", default=False)
    mixer = keys.attention(c, bias=bias, qk_norm=True, kv_heads_optional=True)
    windows = keys.sliding_everywhere(c)
    if not c.bool("is_moe", default=False):
        return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=mlp_bias)), windows=windows)
    m = keys.moe(c, "intermediate_size")
    ffn = MoE(experts=m.experts, active=m.active, width=1, shared=m.width, bias=mlp_bias)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden
    weights = Tensor((d,), component="other")

    def layer(one: Layer) -> Block:
        a = one.attention
        seen = Linear(a.kv_heads * a.head_dim, a.kv_heads, a.qkv_bias)
        return block(
            input_layernorm=rms_norm(d),
            self_attn=altered(gqa(d, a), A=Tensor((a.kv_heads,)), dt_proj=seen),
            input_residual=weights,
            post_attention_layernorm=rms_norm(d),
            mlp=network(d, one, lambda m: neurons(d, m)),
            post_attention_residual=weights,
        )

    return decoder(s, layer)
