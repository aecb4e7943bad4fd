"""Blenderbot 3B: a deep decoder behind a shallow encoder (arXiv:2004.13637)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.seq2seq import bart
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("blenderbot",)  # transformers 5.23: modeling_blenderbot.py

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM")


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=_HEADS)


def blueprint(s: Spec) -> Block:
    return bart(s, first_norm=False, last_norm=True)
