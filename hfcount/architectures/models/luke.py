"""LUKE: RoBERTa's layers over words and entities, with queries for each pair of the two (arXiv:2010.01057)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.encoders import (
    bert_attention,
    bert_base,
    bert_embeddings,
    bert_heads,
    bert_layer,
    pooler,
)
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, Tied, block

MODEL_TYPES = ("luke",)  # transformers 5.23: modeling_luke.py

_CLASSES = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]
_HEADS = keys.named(
    _CLASSES,
    ForEntityClassification="entity_classification",
    ForEntityPairClassification="entity_pair_classification",
    ForEntitySpanClassification="entity_span_classification",
)


class Luke(Sizes):
    entity_vocab_size: int = size("|V_e|", absent=500000)
    entity_emb_size: int = size("d_e", absent=256)
    use_entity_aware_attention: bool = flag(absent=True)


def spec(c: Config) -> Spec[Luke]:
    sizes = Luke.read(c)
    return keys.encoder(c, heads=_HEADS, decoding=False).having(sizes)


def blueprint(s: Spec[Luke]) -> Block:
    d, of = s.hidden, s.own
    entities, width = of.entity_vocab_size, of.entity_emb_size
    square, kinds = Linear(d, d, True), ("w2e", "e2w", "e2e")

    def layer_block(layer: Layer) -> Block:
        pairs = {f"{kind}_query": square for kind in kinds if of.use_entity_aware_attention}
        projections = block("attention", **dict.fromkeys(("query", "key", "value"), square), **pairs)
        attention = altered(bert_attention(d, layer.attention), self=projections)
        return altered(bert_layer(d, layer), attention=attention)

    usual = bert_embeddings(s).children
    tables = block(
        "embedding",
        entity_embeddings=embedding(entities, width),
        entity_embedding_dense=None if width == d else Linear(width, d),
        **{name: usual[name] for name in ("position_embeddings", "token_type_embeddings", "LayerNorm")},
    )
    unpooled = ("token_classification", "question_answering")
    body = bert_base(
        s, layer_block, entity_embeddings=tables, pooler=None if s.head in unpooled else pooler(s, (s.head,))
    )
    transform = block(dense=Linear(d, width, True), LayerNorm=layer_norm(width))
    table = Tied("luke.entity_embeddings.entity_embeddings.weight", (entities, width))
    decoder = table if s.tied else Linear(width, entities)
    # The two biases of the first are one, unless nothing is tied.
    words = block(
        "lm_head",
        dense=square,
        layer_norm=layer_norm(d),
        decoder=Linear(d, s.vocab, True),
        bias=None if s.tied else Tensor((s.vocab,)),
    )
    linked = block("lm_head", bias=Tensor((entities,)), transform=transform, decoder=decoder)
    return bert_heads(
        s,
        "luke",
        body,
        masked_lm=block(lm_head=words, entity_predictions=linked),
        entity_classification=block(classifier=classifier(s)),
        entity_pair_classification=block(classifier=classifier(s, 2 * d, bias=False)),
        entity_span_classification=block(classifier=classifier(s, 3 * d)),
    )
