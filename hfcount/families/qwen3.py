"""Qwen3, dense: queries and keys normalised per head (arXiv:2505.09388)."""

from hfcount import keys
from hfcount.families.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("qwen3",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, qk_norm=True, head_dim=128)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), windows=keys.sliding_later(c, 28))
