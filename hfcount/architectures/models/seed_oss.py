"""Seed-OSS: biases on queries, keys and values (https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("seed_oss",)  # transformers 5.23: modeling_seed_oss.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(
        c,
        qkv_bias=c.bool("attention_bias", default=True),
        out_bias=c.bool("attention_out_bias", default=False),
        head_dim=None if c.is_null("head_dim") else 128,
    )
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))
