"""Qwen3, dense: queries and keys normalised per head (arXiv:2505.09388)."""

from hfcount import keys
from hfcount.families.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("qwen3",)  # transformers 5.23: modeling_qwen3.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=128)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), windows=keys.sliding_later(c, first=28))
