"""BROS: BERT whose attention reads the distances between words on the page (arXiv:2108.04539)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.classic import classifier
from hfcount.parts.encoders import bert_base, bert_embeddings, bert_heads, pooler
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("bros",)  # transformers 5.23: modeling_bros.py
IGNORED = ("dim_bbox_sinusoid_emb_2d", "dim_bbox_sinusoid_emb_1d", "dim_bbox_projection")

_HEADS = keys.named(
    ("Model", "ForTokenClassification"),
    SpadeEEForTokenClassification="entity_classification",
    SpadeELForTokenClassification="entity_linking",
)


class Bros(Sizes):
    dim_bbox: int = size("d_b")
    n_relations: int = size("n_r")


def spec(c: Config) -> Spec[Bros]:
    own = Bros.read(c)
    return keys.encoder(c, heads=_HEADS).replace(tied=False).having(own)


def blueprint(s: Spec[Bros]) -> Block:
    d, heads, rows = s.hidden, s.layers[0].layer.attention.heads, s.positions or 0
    quarter = d // 4
    waves = block(inv_freq=buffer((quarter // s.own.dim_bbox + 1) // 2))
    boxes = block(
        "embedding",
        bbox_sinusoid_emb=block(x_pos_emb=waves, y_pos_emb=waves),
        bbox_projection=Linear(quarter, d // heads),
    )
    numbers = block(position_ids=buffer(1, rows, whole=True))
    embeddings = bert_embeddings(s, more=numbers)
    body = bert_base(s, embeddings=embeddings, bbox_embeddings=boxes, pooler=pooler(s, heads=s.heads))
    into = Linear(d, s.own.n_relations * d, True)
    related = block("other", query=into, key=into, dummy_node=Tensor((1, d)))
    first = block("other", **{"1": Linear(d, d, True), "3": classifier(s)})
    return bert_heads(
        s,
        "bros",
        body,
        entity_classification=block(initial_token_classifier=first, subsequent_token_classifier=related),
        entity_linking=block(entity_linker=related),
    )
