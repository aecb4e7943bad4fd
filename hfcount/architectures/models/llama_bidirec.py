"""Llama-Nemotron's encoders for retrieval: Llama's layers, whose tokens see all others (arXiv:2511.07025)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("llama_bidirec",)  # llama_bidirectional_model.py of nvidia/llama-nemotron-embed-1b-v2
CLASSES = (
    "LlamaBidirectionalModel",
    "LlamaBidirectionalForSequenceClassification",
)


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(c, layer, heads=("Model", "ForSequenceClassification")).replace(causal=False)
