"""ERNIE 4.5, dense: one switch for all biases, embedding and head tied (https://huggingface.co/baidu/ERNIE-4.5-0.3B-PT)."""

from hfcount.architectures import keys
from hfcount.architectures.models.mistral import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("ernie4_5",)  # transformers 5.23: modeling_ernie4_5.py


def spec(c: Config) -> Spec:
    bias, width = c.bool("use_bias", default=False), None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, bias=bias, head_dim=width)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=bias)), tied=True)
