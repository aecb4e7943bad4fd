"""Youtu-LLM: a dense model with latent attention, embedding and head tied (arXiv:2512.24618)."""

from hfcount import keys
from hfcount.families.minicpm3 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("youtu",)  # transformers 5.23: modeling_youtu.py


def spec(c: Config) -> Spec:
    return keys.decoder_spec(c, Layer(mixer=keys.mla(c), ffn=keys.dense(c)), tied=True)
