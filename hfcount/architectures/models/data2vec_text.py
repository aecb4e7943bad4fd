"""data2vec for text, which is RoBERTa by another name (arXiv:2202.03555)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.encoders import bert_base, pooler, roberta_heads
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("data2vec-text",)  # transformers 5.23: modeling_data2vec_text.py


def spec(c: Config) -> Spec:
    return keys.encoder(c)


def blueprint(s: Spec) -> Block:
    return roberta_heads(s, "data2vec_text", bert_base(s, pooler=pooler(s, heads=("base", "multiple_choice"))))
