"""Apertus: an ungated feed-forward network whose activation is trained too (arXiv:2509.14233)."""

from hfcount.architectures.components.apertus import apertus_spec, layer_block
from hfcount.architectures.layers import decoder
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("apertus",)  # transformers 5.23: modeling_apertus.py


def spec(c: Config) -> Spec:
    return apertus_spec(c)


def blueprint(s: Spec) -> Block:
    return decoder(s, lambda layer: layer_block(s.hidden, layer))
