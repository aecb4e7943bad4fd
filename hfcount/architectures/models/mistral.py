"""Mistral 7B and models like it (arXiv:2310.06825)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("mistral",)  # transformers 5.23: modeling_mistral.py


def spec(c: Config) -> Spec:
    windows = keys.sliding_everywhere(c, default=4096)
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c), ffn=keys.dense(c)), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    return decoder(s, layer_block)
