"""Youtu-LLM: a dense model with latent attention, embedding and head tied (arXiv:2512.24618)."""

from hfcount.architectures import keys
from hfcount.architectures.models.minicpm3 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

# transformers 5.23: modeling_youtu.py
# and youtu_llm.py of ml-explore/mlx-lm 0.32.2, which has the type of the release
MODEL_TYPES = ("youtu", "youtu_llm")


def spec(c: Config) -> Spec:
    bias = c.family == "youtu_llm" and c.bool("mlp_bias", default=False)
    return keys.decoder_spec(c, Layer(mixer=keys.mla(c), ffn=keys.dense(c, bias=bias)), tied=True)
