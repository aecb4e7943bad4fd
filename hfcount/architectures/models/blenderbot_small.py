"""Blenderbot 90M, which normalises its embedding (arXiv:2004.13637)."""

from hfcount.architectures import keys
from hfcount.architectures.models.bart import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Spec

MODEL_TYPES = ("blenderbot-small",)  # transformers 5.23: modeling_blenderbot_small.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS)
