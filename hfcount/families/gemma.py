"""Gemma 1: heads as wide as the config says, embedding and head tied (arXiv:2403.08295)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("gemma",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, head_dim=256)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
