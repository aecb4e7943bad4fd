"""Dream: Qwen 2.5's layers, whose tokens see all others, below a head of their own (arXiv:2508.15487)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("Dream",)  # modeling_dream.py of Dream-org/Dream-v0-Instruct-7B


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qkv_bias=True, derived=True, indivisible="refused"), ffn=keys.dense(c))
    heads = keys.named(Model="causal_lm")  # it is the inner DreamBaseModel that has no head
    return keys.decoder_spec(c, layer, heads=heads).replace(causal=False)
