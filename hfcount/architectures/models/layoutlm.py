"""LayoutLM: BERT that also reads where on the page a word stands (arXiv:1912.13318)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, bert_heads, pooler
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("layoutlm",)  # transformers 5.23: modeling_layoutlm.py

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


class Layoutlm(Sizes):
    max_2d_position_embeddings: int


def spec(c: Config) -> Spec[Layoutlm]:
    rows = keys.dim("n_2", c.int("max_2d_position_embeddings", default=1024))
    return keys.encoder(c, decoding=False, heads=_HEADS).having(Layoutlm.read(c, max_2d_position_embeddings=rows))


def blueprint(s: Spec[Layoutlm]) -> Block:
    table = embedding(s.own.max_2d_position_embeddings, s.hidden)
    places = Block({f"{which}_position_embeddings": table for which in "xyhw"})
    body = bert_base(s, embeddings=bert_embeddings(s, more=places), pooler=pooler(s, heads=s.heads))
    return bert_heads(s, "layoutlm", body)
