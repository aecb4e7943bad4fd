"""Ministral: Mistral with a sliding window in the layers that the config names (https://huggingface.co/mistralai/Ministral-8B-Instruct-2410)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("ministral",)  # transformers 5.23: modeling_ministral.py


def spec(c: Config) -> Spec:
    windows = keys.sliding(c, lambda: keys.other_than(c), default=4096)
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c), ffn=keys.dense(c)), windows=windows)
