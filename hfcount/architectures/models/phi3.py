"""Phi-3, Phi-3.5 and Phi-4: queries, keys and values in one projection, gate and up in another (arXiv:2404.14219)."""

from functools import partial

from hfcount.architectures import keys
from hfcount.architectures.components.phi import phi3_layer
from hfcount.architectures.layers import decoder
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("phi3",)  # transformers 5.23: modeling_phi3.py
CLASSES = ("TorchNativePhi3ForCausalLM",)


def spec(c: Config) -> Spec:
    for unused in ("attention_bias", "mlp_bias", "lm_head_bias"):  # configs have them, the architecture no biases
        c.bool(unused, default=False)
    every = Layer(mixer=keys.attention(c), ffn=keys.dense(c))
    return keys.decoder_spec(c, every, windows=keys.sliding_everywhere(c))


def blueprint(s: Spec) -> Block:
    return decoder(s, partial(phi3_layer, s.hidden))
