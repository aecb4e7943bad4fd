"""Granite with sliding windows and attention sinks (https://huggingface.co/ibm-granite)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("granite_swa",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, sinks=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(
        c, layer, tied=True, windows=keys.sliding(c, lambda: keys.all_but_every_nth(c, 4, first=0), 128)
    )


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
