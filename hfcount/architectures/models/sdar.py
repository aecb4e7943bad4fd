"""SDAR: Qwen3's layers, whose tokens see the others of their block (arXiv:2510.06303)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("sdar",)  # modeling_sdar.py of JetLM/SDAR-8B-Chat
IGNORED = ("block_size",)


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=128)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), heads=("ForCausalLM", "Model"))
