"""LayoutLM: BERT that also reads where on the page a word stands (arXiv:1912.13318)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding
from hfcount.parts.encoders import bert_base, bert_embeddings, bert_heads, pooler
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("layoutlm",)  # transformers 5.23: modeling_layoutlm.py

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


def spec(c: Config) -> Spec:
    rows = keys.sized("n_2", c.int("max_2d_position_embeddings", default=1024))
    return keys.encoder(c, heads=_HEADS, traits={"max_2d_position_embeddings": rows}).but(causal=False)


def blueprint(s: Spec) -> Block:
    table = embedding(s.traits["max_2d_position_embeddings"], s.hidden)
    places = Block({f"{which}_position_embeddings": table for which in "xyhw"})
    body = bert_base(s, embeddings=bert_embeddings(s, more=places), pooler=pooler(s, heads=s.heads))
    return bert_heads(s, "layoutlm", body)
