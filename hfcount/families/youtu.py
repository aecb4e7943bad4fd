"""Youtu-LLM: a dense model with latent attention, embedding and head tied (arXiv:2512.24618)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, mla, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("youtu",)


def spec(c: Config) -> Spec:
    return keys.decoder_spec(c, Layer(mixer=keys.mla(c), ffn=keys.dense(c)), tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=mla(d, one.latent),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
