"""Step-1: Llama's layers whose positions are biases of attention (https://huggingface.co/stepfun-ai)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import GQA, Layer, Spec

MODEL_TYPES = ("step1",)  # step1.py of vllm-project/vllm 0.33
CLASSES = ("Step1ForCausalLM",)


def spec(c: Config) -> Spec:
    heads, hidden, bias = c.int("num_attention_heads"), c.int("hidden_size"), c.bool("attention_bias", default=False)
    shared = c.int("num_attention_groups", "num_key_value_heads", default=1)
    mixer = GQA(heads=heads, kv_heads=shared, head_dim=hidden // heads, qkv_bias=bias, out_bias=bias)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"))
