"""ERNIE 4.5, dense: one switch for all biases, embedding and head tied (https://huggingface.co/baidu/ERNIE-4.5-0.3B-PT)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("ernie4_5",)


def spec(c: Config) -> Spec:
    bias, width = c.bool("use_bias", default=False), None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, head_dim=width)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=bias)), tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width, one.dense.bias),
        )

    return decoder(s, layer)
