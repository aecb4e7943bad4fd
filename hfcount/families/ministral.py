"""Ministral: Mistral with a sliding window in the layers that the config names (https://huggingface.co/mistralai/Ministral-8B-Instruct-2410)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("ministral",)


def spec(c: Config) -> Spec:
    windows = keys.sliding(c, lambda: keys.other_than(c), 4096)
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c), ffn=keys.dense(c)), windows=windows)


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
