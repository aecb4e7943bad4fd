"""Gemma 1: heads as wide as the config says, embedding and head tied (arXiv:2403.08295)."""

from hfcount.architectures import keys
from hfcount.architectures.models.mistral import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("gemma",)  # transformers 5.23: modeling_gemma.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), head_dim=256)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True)
