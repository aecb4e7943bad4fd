"""Qwen 1.5, 2 and 2.5, QwQ: biases on queries, keys and values (arXiv:2407.10671, arXiv:2412.15115)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

# transformers 5.23: modeling_qwen2.py, modeling_qwen2_vl.py, modeling_qwen2_5_vl.py, modeling_qwen2_5_omni.py
MODEL_TYPES = ("qwen2", "qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text")


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qkv_bias=True), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, windows=keys.sliding_later(c, first=28))
