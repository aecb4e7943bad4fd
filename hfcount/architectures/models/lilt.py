"""LiLT: RoBERTa beside a narrow stack of layers for the layout of the page (arXiv:2202.13669)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, within
from hfcount.architectures.layers.encoders import (
    bert_attention,
    bert_base,
    bert_embeddings,
    bert_heads,
    dense_classifier,
    pooler,
)
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lilt",)  # transformers 5.23: modeling_lilt.py

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


class Lilt(Sizes):
    max_2d_position_embeddings: int = size("n_2")
    channel_shrink_ratio: int = size("r")


def spec(c: Config) -> Spec[Lilt]:
    sizes = Lilt.read(c)
    return keys.encoder(c, decoding=False, heads=_HEADS).replace(tied=False).having(sizes)


def blueprint(s: Spec[Lilt]) -> Block:
    d, less = s.hidden, s.own.channel_shrink_ratio
    narrow = d // less

    def network(inputs: int, width: int) -> tuple[Block, Block]:
        back = block(dense=Linear(width, inputs, True, "mlp"), LayerNorm=layer_norm(inputs))
        return block("mlp", dense=Linear(inputs, width, True)), back

    def layer_block(layer: Layer) -> Block:
        a, wide = layer.attention, layer.dense.width
        into = Linear(narrow, (a.heads * a.head_dim) // less, True)
        both = {f"layout_{name}": into for name in ("query", "key", "value")}
        out = block(dense=Linear(narrow, narrow, True, "attention"), LayerNorm=layer_norm(narrow))
        attention = within(bert_attention(d, a), self=Block(both))
        (inner, back), (slim, thin) = network(d, wide), network(narrow, wide // less)
        return block(
            attention=altered(attention, layout_output=out),
            intermediate=inner,
            output=back,
            layout_intermediate=slim,
            layout_output=thin,
        )

    sixth = embedding(s.own.max_2d_position_embeddings, d // 6)  # of x, y twice, height and width
    places = {f"{which}_position_embeddings": sixth for which in "xyhw"}
    layout = block(
        box_position_embeddings=embedding(s.positions or 0, narrow),
        box_linear_embeddings=Linear(d, narrow, True, "embedding"),
        LayerNorm=layer_norm(narrow),
    )
    body = bert_base(s, layer_block, bert_embeddings(s), pooler=pooler(s, heads=("base",)))
    tree = Block({**body.children, "layout_embeddings": Block({**places, **layout.children})})
    return bert_heads(s, "lilt", tree, sequence_classification=block(classifier=dense_classifier(s)))
