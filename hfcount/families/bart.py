"""BART: an encoder-decoder trained to restore corrupted texts (arXiv:1910.13461)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.seq2seq import bart
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("bart",)  # transformers 5.23: modeling_bart.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2, default_labels=3)


def blueprint(s: Spec) -> Block:
    return bart(s, first_norm=True, last_norm=False)
