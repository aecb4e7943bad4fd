"""DeBERTa, version 1: contents and relative positions apart (arXiv:2006.03654)."""

from hfcount.architectures import keys
from hfcount.architectures.components.disentangled import ways
from hfcount.architectures.layers import altered, embedding, layer_norm, stack
from hfcount.architectures.layers.encoders import DEBERTA_POOLED, bert_embeddings, bert_layer, deberta_heads
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("deberta",)  # transformers 5.23: modeling_deberta.py
IGNORED = ("pooler_hidden_size",)  # which only models with a pooler read

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


class Deberta(Sizes):
    """Sizes specific to DeBERTa.

    `distances` are those with an embedding, if it is relative; `c2p` and `p2c` are whether contents are compared with
    positions, and positions with contents.
    """

    embedding_size: int = derived(lambda c: c.int("embedding_size", default=c.int("hidden_size")))
    talking_head: bool = flag(absent=False)
    legacy: bool = flag(absent=True)
    pooler_hidden_size: int
    distances: int | None
    c2p: bool
    p2c: bool


def spec(c: Config) -> Spec[Deberta]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    relative = c.bool("relative_attention", default=False)
    far = c.int("max_relative_positions", default=-1, minimum=-1)
    kinds = ways(c) if relative else []
    types = c.int("type_vocab_size", default=0, minimum=0)
    distances = keys.dim("n_r", far if far > 0 else rows) if relative else None
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, token_types=types or None)
    pooled = c.int("pooler_hidden_size", default=d) if model.head in DEBERTA_POOLED else d
    sizes = Deberta.read(c, pooler_hidden_size=pooled, distances=distances, c2p="c2p" in kinds, p2c="p2c" in kinds)
    known = rows if c.bool("position_biased_input", default=True) else None
    return model.replace(causal=False, positions=known).having(sizes)


def blueprint(s: Spec[Deberta]) -> Block:
    d, of, width = s.hidden, s.own, s.own.embedding_size

    def layer_block(layer: Layer) -> Block:
        heads = layer.attention.heads
        mixed = Linear(heads, heads) if of.talking_head else None
        projections = block(
            "attention",
            in_proj=Linear(d, 3 * d),
            q_bias=Tensor((d,)),
            v_bias=Tensor((d,)),
            head_logits_proj=mixed,
            head_weights_proj=mixed,
            pos_proj=Linear(d, d) if of.c2p else None,
            pos_q_proj=Linear(d, d, True) if of.p2c else None,
        )
        attention = block(
            self=projections, output=block(dense=Linear(d, d, True, "attention"), LayerNorm=layer_norm(d))
        )
        return altered(bert_layer(d, layer.replace(cross_attention=False)), attention=attention)

    wider = None if width == d else Linear(width, d, component="embedding")
    tables = bert_embeddings(s, width, norm=False)
    distances = embedding(2 * of.distances, d) if of.distances else None
    encoder = block(layer=stack(s.layers, layer_block), rel_embeddings=distances)
    embeddings = altered(tables, LayerNorm=layer_norm(d), embed_proj=wider)
    body = block(embeddings=embeddings, encoder=encoder)
    return deberta_heads(s, body, width, of.pooler_hidden_size, of.legacy)
