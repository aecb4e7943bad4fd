"""Phi-3, Phi-3.5 and Phi-4: queries, keys and values in one projection, gate and up in another (arXiv:2404.14219)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, fused_qkv, fused_swiglu, inv_freq, pre_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("phi3",)  # transformers 5.23: modeling_phi3.py


def spec(c: Config) -> Spec:
    for unused in ("attention_bias", "mlp_bias", "lm_head_bias"):  # configs have them, the architecture no biases
        c.bool(unused, default=False)
    layer = Layer(mixer=keys.attention(c), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, windows=keys.sliding_everywhere(c))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a = one.attention
        return pre_norm(
            d,
            self_attn=block(
                "attention",
                qkv_proj=fused_qkv(d, a),
                o_proj=Linear(a.heads * a.head_dim, d),
                rotary_emb=inv_freq(a.head_dim),
            ),
            mlp=fused_swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
