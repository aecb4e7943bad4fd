"""LayoutLMv3: words with their places on the page, and patches of it, in one encoder (arXiv:2204.08387)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.classic import classifier
from hfcount.parts.encoders import bert_embeddings, bert_heads, bert_layer, dense_classifier
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("layoutlmv3",)  # transformers 5.23: modeling_layoutlmv3.py
IGNORED = ("max_rel_pos", "max_rel_2d_pos")

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
_MANY = 10  # labels of tokens, from which on their head has two layers


def spec(c: Config) -> Spec:
    side, across = c.int("input_size"), keys.patches(c)
    traits = {
        "max_2d_position_embeddings": keys.sized("n_2", c.int("max_2d_position_embeddings")),
        "coordinate_size": keys.sized("d_x", c.int("coordinate_size")),
        "shape_size": keys.sized("d_s", c.int("shape_size")),
        "rel_pos_bins": keys.sized("b", c.int("rel_pos_bins")),
        "rel_2d_pos_bins": keys.sized("b_2", c.int("rel_2d_pos_bins")),
        "patches": side // across.side * (side // across.side),
    }
    switches = ("text_embed", "visual_embed", "has_relative_attention_bias", "has_spatial_attention_bias")
    traits |= {key: c.bool(key, default=True) for key in switches}
    return keys.encoder(c, heads=_HEADS, traits=traits).but(causal=False, uncounted="", patches=across, tied=False)


def blueprint(s: Spec) -> Block:
    d, of, heads = s.hidden, s.traits, s.layers[0].layer.attention.heads
    rows = of["max_2d_position_embeddings"]
    sizes = {"x": of["coordinate_size"], "y": of["coordinate_size"], "h": of["shape_size"], "w": of["shape_size"]}
    places = Block({f"{which}_position_embeddings": embedding(rows, width) for which, width in sizes.items()})
    seen = block(
        patch_embed=block("embedding", proj=patch_convolution(s)),
        cls_token=Tensor((1, 1, d), component="embedding"),
        pos_embed=Tensor((1, of["patches"] + 1, d), component="embedding"),
        LayerNorm=layer_norm(d),
        norm=layer_norm(d),
    )
    one, two = (Linear(of[key], heads, component="attention") for key in ("rel_pos_bins", "rel_2d_pos_bins"))
    encoder = block(
        layer=stack(s.layers, lambda one: bert_layer(d, one)),
        rel_pos_bias=one if of["has_relative_attention_bias"] else None,
        rel_pos_x_bias=two if of["has_spatial_attention_bias"] else None,
        rel_pos_y_bias=two if of["has_spatial_attention_bias"] else None,
    )
    read = block(embeddings=bert_embeddings(s, more=places) if of["text_embed"] else None).children
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
