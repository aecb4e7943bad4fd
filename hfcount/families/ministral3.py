"""Ministral 3, the language model: Mistral with heads of a width of their own (arXiv:2601.08584)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("ministral3",)


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, head_dim=128), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, windows=keys.sliding_everywhere(c))


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
