"""Ministral 3, the language model: Mistral with heads of a width of their own (arXiv:2601.08584)."""

from hfcount.architectures import keys
from hfcount.architectures.models.mistral import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("ministral3",)  # transformers 5.23: modeling_ministral3.py


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, head_dim=128), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, windows=keys.sliding_everywhere(c))
