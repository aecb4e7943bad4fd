"""Qwen 1.5, 2 and 2.5, QwQ: biases on queries, keys and values (arXiv:2407.10671, arXiv:2412.15115)."""

from hfcount import keys
from hfcount.families.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("qwen2",)  # transformers 5.23: modeling_qwen2.py


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qkv_bias=True), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, windows=keys.sliding_later(c, first=28))
