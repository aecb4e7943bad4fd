"""Helium 1: LLaMA with biases that the config switches (https://huggingface.co/kyutai/helium-1-2b)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear

MODEL_TYPES = ("helium",)  # transformers 5.23: modeling_helium.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qkv_bias=c.bool("attention_bias", default=False), head_dim=128)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=altered(gqa(d, layer.attention), o_proj=Linear(d, d)),
            mlp=swiglu(d, layer.dense.width, layer.dense.bias),
        )

    return decoder(s, layer_block)
