"""LayoutLMv3: words with their places on the page, and patches of it, in one encoder (arXiv:2204.08387)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.classic import classifier
from hfcount.parts.encoders import bert_embeddings, bert_heads, bert_layer, dense_classifier
from hfcount.parts.layout import corners, distances
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("layoutlmv3",)  # transformers 5.23: modeling_layoutlmv3.py
IGNORED = ("max_rel_pos", "max_rel_2d_pos")

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
_MANY = 10  # labels of tokens, from which on their head has two layers


def spec(c: Config) -> Spec:
    side, across = c.int("input_size"), keys.patches(c)
    traits = {**keys.on_page(c), "patches": side // across.side * (side // across.side)}
    traits |= {key: c.bool(key, default=True) for key in ("text_embed", "visual_embed")}
    return keys.encoder(c, heads=_HEADS, traits=traits).but(causal=False, uncounted="", patches=across, tied=False)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    seen = block(
        patch_embed=block("embedding", proj=patch_convolution(s)),
        cls_token=Tensor((1, 1, d), component="embedding"),
        pos_embed=Tensor((1, of["patches"] + 1, d), component="embedding"),
        LayerNorm=layer_norm(d),
        norm=layer_norm(d),
    )
    layers = stack(s.layers, lambda one: bert_layer(d, one))
    encoder = Block({"layer": layers, **distances(of, s.layers[0].layer.attention.heads).children})
    read = block(embeddings=bert_embeddings(s, more=corners(of)) if of["text_embed"] else None).children
    whole = Block({**read, **(seen.children if of["visual_embed"] else {}), "encoder": encoder})
    deep = dense_classifier(s)
    return bert_heads(
        s,
        "layoutlmv3",
        whole,
        sequence_classification=block(classifier=deep),
        question_answering=block(qa_outputs=deep),
        token_classification=block(classifier=classifier(s) if s.labels < _MANY else deep),
    )
