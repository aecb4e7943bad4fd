"""Doge: attention with a learned mask, weighted residuals, experts of one neuron (arXiv:2412.11834)."""

from math import isqrt

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, network, rms_norm, stacked
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("doge",)  # transformers 5.23: modeling_doge.py
IGNORED = ("keep_window_size",)


def spec(c: Config) -> Spec:
    bias, mlp_bias = c.bool("attention_bias", default=False), c.bool("mlp_bias", default=False)
    mixer = keys.attention(c, bias=bias, qk_norm=True)
    windows = keys.sliding_everywhere(c)
    if not c.bool("is_moe", default=False):
        return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=mlp_bias)), windows=windows)
    m = keys.moe(c, "intermediate_size")
    ffn = MoE(experts=m.experts, active=m.active, width=1, shared=m.width, bias=mlp_bias)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), windows=windows)


def _neurons(d: int, m: MoE) -> Block:
    """Experts of one neuron each, found by product keys (PEER, arXiv:2407.04153), and one gated network for all tokens.

    Tensors: gate_proj and up_proj (d_s, d), down_proj (d, d_s) for all tokens; router_gate (2·floor(sqrt(n)), d);
    down_embed and up_embed (n, d), the experts' inputs and outputs.
    """
    width = m.shared or 0
    return block(
        gate_proj=Linear(d, width, m.bias, component="mlp"),
        up_proj=Linear(d, width, m.bias, component="mlp"),
        down_proj=Linear(width, d, m.bias, component="mlp"),
        router_gate=Linear(d, 2 * isqrt(m.experts), component="router"),
        down_embed=block(weight=stacked(m, d)),
        up_embed=block(weight=stacked(m, d)),
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden
    weights = Tensor((d,), component="other")

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        vision_width = Linear(a.kv_heads * a.head_dim, a.kv_heads, a.qkv_bias)
        return block(
            input_layernorm=rms_norm(d),
            self_attn=altered(gqa(d, a), A=Tensor((a.kv_heads,)), dt_proj=vision_width),
            input_residual=weights,
            post_attention_layernorm=rms_norm(d),
            mlp=network(d, layer, lambda m: _neurons(d, m)),
            post_attention_residual=weights,
        )

    return decoder(s, layer_block)
