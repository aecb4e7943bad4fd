"""M2M-100: BART's layers with norms first and fixed positions, for a hundred languages (arXiv:2010.11125)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered
from hfcount.architectures.layers.seq2seq import bart
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("m2m_100",)  # transformers 5.23: modeling_m2m_100.py


def spec(c: Config) -> Spec:
    return keys.sequence_to_sequence(c, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    body = bart(s, first_norm=False, last_norm=True, tables=block())  # positions are computed
    return altered(body, final_logits_bias=None)
