"""PLBART: BART for programs (arXiv:2103.06333)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.seq2seq import bart
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("plbart",)  # transformers 5.23: modeling_plbart.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2)


def blueprint(s: Spec) -> Block:
    return bart(s, first_norm=True, last_norm=False)
