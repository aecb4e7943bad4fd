"""Seed-OSS: biases on queries, keys and values (https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("seed_oss",)


def spec(c: Config) -> Spec:
    mixer = keys.attention(
        c,
        qkv_bias=c.bool("attention_bias", default=True),
        out_bias=c.bool("attention_out_bias", default=False),
        head_dim=None if c.is_null("head_dim") else 128,
    )
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width, one.dense.bias),
        )

    return decoder(s, layer, question_answering="transformer")
