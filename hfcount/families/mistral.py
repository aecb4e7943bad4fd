"""Mistral 7B and its kin (arXiv:2310.06825)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("mistral",)


def spec(c: Config) -> Spec:
    windows = keys.sliding_everywhere(c, 4096)
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

    return decoder(s, layer)
