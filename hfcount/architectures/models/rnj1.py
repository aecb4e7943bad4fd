"""Rnj-1: Gemma 3's layers, most of which attend within a chunk (https://huggingface.co/EssentialAI)."""

from hfcount.architectures import keys
from hfcount.architectures.models.gemma2 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("rnj1",)  # rnj1.py of vllm-project/vllm 0.33
CLASSES = ("Rnj1ForCausalLM",)

_CHUNKS = "layers that attend within chunks keep a chunk and the one before"


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=256)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    model = keys.decoder_spec(c, layer, tied=True)
    return model.replace(uncounted=_CHUNKS) if "chunked_attention" in c.strs("layer_types") else model
