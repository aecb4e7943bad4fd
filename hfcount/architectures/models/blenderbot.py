"""Blenderbot 3B and PEGASUS: BART without a norm of the embedding (arXiv:2004.13637, arXiv:1912.08777)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.seq2seq import bart
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("blenderbot", "pegasus")  # transformers 5.23: modeling_blenderbot.py, modeling_pegasus.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS)


def blueprint(s: Spec) -> Block:
    return bart(s, first_norm=False, last_norm=True)
