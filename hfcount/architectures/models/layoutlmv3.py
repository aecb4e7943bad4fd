"""LayoutLMv3: words with their places on the page, and patches of it, in one encoder (arXiv:2204.08387)."""

from hfcount.architectures import keys
from hfcount.architectures.components.layout import OnPage
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.encoders import bert_heads, bert_layer, dense_classifier
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block, obsolete

MODEL_TYPES = ("layoutlmv3",)  # transformers 5.23: modeling_layoutlmv3.py
IGNORED = ("max_rel_pos", "max_rel_2d_pos", "second_input_size")

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
_MANY = 10  # labels of tokens, from which on their head has two layers


class LayoutLMv3(Record):
    """Sizes specific to LayoutLMv3; `patches` are those of an image."""

    patches: int
    page: OnPage
    text_embed: bool
    visual_embed: bool
    type_vocab_size: int


def spec(c: Config) -> Spec[LayoutLMv3]:
    side, across = c.int("input_size"), keys.patches(c)
    page = OnPage.read(c)
    read, visual = c.bool("text_embed", default=True), c.bool("visual_embed", default=True)
    model = keys.encoder(c, decoding=False, heads=_HEADS).replace(patches=across, tied=False)
    sizes = LayoutLMv3(
        patches=side // across.side * (side // across.side),
        page=page,
        text_embed=read,
        visual_embed=visual,
        type_vocab_size=c.int("type_vocab_size"),
    )
    return model.having(sizes)


def _words(s: Spec[LayoutLMv3]) -> Block:
    d, rows = s.hidden, 0 if s.positions is None else s.positions
    return block(
        word_embeddings=embedding(s.vocab, d),
        position_embeddings=embedding(rows, d),
        token_type_embeddings=embedding(s.own.type_vocab_size, d),
        LayerNorm=layer_norm(d),
        position_ids=obsolete(1, rows, whole=True),
        **s.own.page.corners().children,
    )


def blueprint(s: Spec[LayoutLMv3]) -> Block:
    d, sizes = s.hidden, s.own
    children = block(
        patch_embed=block("embedding", proj=patch_convolution(s)),
        cls_token=Tensor((1, 1, d), component="embedding"),
        pos_embed=Tensor((1, sizes.patches + 1, d), component="embedding"),
        LayerNorm=layer_norm(d),
        norm=layer_norm(d),
    )
    layers = stack(s.layers, lambda layer: bert_layer(d, layer))
    encoder = Block({"layer": layers, **sizes.page.distances(s.layers[0].layer.attention.heads).children})
    read = block(embeddings=_words(s) if sizes.text_embed else None).children
    body = Block({**read, **(children.children if sizes.visual_embed else {}), "encoder": encoder})
    deep = dense_classifier(s)
    return bert_heads(
        s,
        "layoutlmv3",
        body,
        sequence_classification=block(classifier=deep),
        question_answering=block(qa_outputs=deep),
        token_classification=block(classifier=classifier(s) if s.labels < _MANY else deep),
    )
