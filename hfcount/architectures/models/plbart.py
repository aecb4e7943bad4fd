"""PLBART: BART for programs (arXiv:2103.06333)."""

from hfcount.architectures import keys
from hfcount.architectures.models.bart import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Spec

MODEL_TYPES = ("plbart",)  # transformers 5.23: modeling_plbart.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2)
