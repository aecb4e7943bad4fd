"""mBART: BART in many languages, with a final norm in encoder and decoder (arXiv:2001.08210)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.seq2seq import bart
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("mbart",)  # transformers 5.23: modeling_mbart.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS, offset=2)


def blueprint(s: Spec) -> Block:
    return bart(s, first_norm=True, last_norm=True)
