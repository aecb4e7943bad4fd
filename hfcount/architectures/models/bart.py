"""BART: an encoder-decoder trained to restore corrupted texts (arXiv:1910.13461)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.seq2seq import bart
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("bart",)  # transformers 5.23: modeling_bart.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2, default_labels=3)


def blueprint(s: Spec) -> Block:
    return bart(s, first_norm=True, last_norm=False)
