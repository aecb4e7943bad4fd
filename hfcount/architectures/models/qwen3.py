"""Qwen3, dense: queries and keys normalised per head (arXiv:2505.09388)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

# transformers 5.23: modeling_qwen3.py, modeling_qwen3_vl.py
MODEL_TYPES = ("qwen3", "qwen3_vl_text")


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=128)
    c.confirms(use_qk_norm=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), windows=keys.sliding_later(c, first=28))
