"""DETR and Table Transformer: queries find objects in the features of a convolutional network (arXiv:2005.12872)."""

from hfcount.architectures import families
from hfcount.architectures.components.detection import (
    LearnedQueries,
    detr_layer,
    learned_queries,
    mask_head,
    perceptron,
)
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.conversions import DETR_MASKS
from hfcount.architectures.layers.convolution import conv, frozen
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("detr", "table-transformer")  # transformers 5.23: modeling_detr.py, modeling_table_transformer.py
IGNORED = ("dilation",)
CONVERTED = ("detr",)
SPELLINGS = {
    r"backbone\.(?!conv_encoder\.)": "backbone.conv_encoder.",
    r"\.o_proj\.": ".out_proj.",
    r"layers\.(\d+)\.mlp\.fc": r"layers.\1.fc",
    **DETR_MASKS,
}

_ROWS = 50  # of each learned table of positions


def spec(c: Config) -> Spec[LearnedQueries]:
    return learned_queries(c, families.convolutional(c))


def blueprint(s: Spec[LearnedQueries]) -> Block:
    d, sizes, norm, widths = s.hidden, s.own, layer_norm(s.hidden), s.own.widths
    table = embedding(_ROWS, d // 2)
    places = block("embedding", row_embeddings=table, column_embeddings=table) if sizes.learned else None
    encoder = stack(s.stack("encoder"), lambda layer: detr_layer(d, layer))
    body = block(
        backbone=block(conv_encoder=block(model=frozen(families.tree(s.part("backbone"))))),
        position_embedding=places,
        query_position_embeddings=embedding(sizes.num_queries, d),
        input_projection=block("projector", **conv(widths[-1], d, 1, bias=True).children),
        encoder=block(layers=encoder, layernorm=norm if s.family == "table-transformer" else None),
        decoder=block(layers=stack(s.layers, lambda layer: detr_layer(d, layer, crossed=True)), layernorm=norm),
    )
    predictors = block(
        class_labels_classifier=Linear(d, s.labels + 1, True, "other"), bbox_predictor=perceptron(d, d, d, 4)
    )
    if s.head != "panoptic_segmentation":
        return headed(s, "model", body, object_detection=predictors)
    heads = s.part("encoder").layers[0].layer.attention.heads
    masks = mask_head(d, heads, widths[::-1][-3:])
    return Block({"detr": Block({"model": body, **predictors.children}), **masks.children})
