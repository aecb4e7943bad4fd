"""Mistral Large 3: DeepSeek-V3's layers under the names of Mistral's own code."""

from hfcount.architectures import keys
from hfcount.architectures.layers.conversions import MISTRAL, packed
from hfcount.architectures.models.deepseek_v3 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Spec

# mistral_large_3.py of vllm-project/vllm 0.33, and of sgl-project/sglang 0.5.23
MODEL_TYPES = ("mistral_large_3",)
CLASSES = ("MistralLarge3ForCausalLM",)
SPELLINGS = {**MISTRAL, r"^(?=(embed_tokens|layers|norm)\.)": "model."}
MERGED = packed()


def spec(c: Config) -> Spec:
    places = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)
    return keys.decoder_spec(c, keys.networks(c, places, lambda: keys.deepseek_moe(c), keys.mla(c)))
