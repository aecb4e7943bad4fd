"""InternLM 3: LLaMA with other names for the bias switches (https://huggingface.co/internlm/internlm3-8b-instruct)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("internlm3",)  # transformers 5.23: configuration_internlm3.py


def spec(c: Config) -> Spec:
    bias, width = c.bool("bias", "mlp_bias", default=False), None if c.is_null("head_dim") else 128
    qkv_bias = c.bool("qkv_bias", "attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=qkv_bias, out_bias=bias, head_dim=width, indivisible="refused")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=bias)))
