"""Persimmon 8B: queries, keys and values interleaved by head (https://huggingface.co/adept/persimmon-8b-base)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import persimmon, with_head
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("persimmon",)  # transformers 5.23: modeling_persimmon.py


def spec(c: Config) -> Spec:
    norms = c.bool("qk_layernorm", default=True)
    mixer = keys.attention(c, bias=True, qk_norm=norms, kv_heads_optional=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=True)))


def blueprint(s: Spec) -> Block:
    return with_head(s, persimmon(s))
