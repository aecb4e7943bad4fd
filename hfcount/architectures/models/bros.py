"""BROS: BERT whose attention reads the distances between words on the page (arXiv:2108.04539)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, bert_heads, pooler
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("bros",)  # transformers 5.23: modeling_bros.py

_HEADS = keys.named(
    ("Model", "ForTokenClassification"),
    SpadeEEForTokenClassification="entity_classification",
    SpadeELForTokenClassification="entity_linking",
)


class Bros(Sizes):
    """Sizes specific to Bros: waves of a coordinate, all of a box, and what these become, as wide as a head."""

    waves: int
    seen: int
    projected: int
    n_relations: int = size("n_r")


def spec(c: Config) -> Spec[Bros]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    waves = keys.computed(c, "d_w", "dim_bbox_sinusoid_emb_1d", d // 4 // c.int("dim_bbox"))
    box_width = keys.computed(c, "d_b", "dim_bbox_sinusoid_emb_2d", d // 4)
    sizes = Bros.read(
        c, waves=waves, seen=box_width, projected=keys.computed(c, "d_o", "dim_bbox_projection", d // heads)
    )
    return keys.encoder(c, heads=_HEADS).replace(tied=False).having(sizes)


def blueprint(s: Spec[Bros]) -> Block:
    d, rows = s.hidden, s.positions or 0
    waves = block(inv_freq=buffer((s.own.waves + 1) // 2))
    boxes = block(
        "embedding",
        bbox_sinusoid_emb=block(x_pos_emb=waves, y_pos_emb=waves),
        bbox_projection=Linear(s.own.seen, s.own.projected),
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
