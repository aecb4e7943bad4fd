"""Mistral Large 3: DeepSeek-V3's layers under the names of Mistral's own code."""

from hfcount.architectures.layers.conversions import MISTRAL, packed
from hfcount.architectures.models.deepseek_v3 import blueprint as blueprint
from hfcount.architectures.models.deepseek_v3 import spec as spec

MODEL_TYPES = ("mistral_large_3",)  # mistral_large_3.py of vllm-project/vllm 0.33 and of sgl-project/sglang 0.5.23
CLASSES = ("MistralLarge3ForCausalLM",)
SPELLINGS = {**MISTRAL, r"^(?=(embed_tokens|layers|norm)\.)": "model."}
MERGED = packed()
