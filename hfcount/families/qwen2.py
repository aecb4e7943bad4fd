"""Qwen 1.5, 2 and 2.5, QwQ: biases on queries, keys and values (arXiv:2407.10671, arXiv:2412.15115)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("qwen2",)


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qkv_bias=True), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, windows=keys.sliding_later(c, 28))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width),
        )

    return decoder(s, layer, question_answering="transformer")
