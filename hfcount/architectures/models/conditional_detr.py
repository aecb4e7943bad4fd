"""Conditional DETR: queries attend by content and by place, each with projections of its own (arXiv:2108.06152)."""

from hfcount.architectures import families
from hfcount.architectures.components.detection import (
    LearnedQueries,
    detr_layer,
    learned_queries,
    mask_head,
    perceptron,
)
from hfcount.architectures.layers import embedding, layer_norm
from hfcount.architectures.layers.classic import fc, headed
from hfcount.architectures.layers.conversions import DETR_MASKS
from hfcount.architectures.layers.convolution import conv, frozen, led
from hfcount.architectures.layers.stacks import stack
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("conditional_detr",)  # transformers 5.23: modeling_conditional_detr.py
IGNORED = ("dilation",)
_NAMES = {"q_content": "qcontent", "q_pos": "qpos", "k_content": "kcontent", "k_pos": "kpos", "v": "v"}
SPELLINGS = {
    r"backbone\.(?!conv_encoder\.)": "backbone.conv_encoder.",
    r"\.o_proj\.": ".out_proj.",
    r"layers\.(\d+)\.mlp\.fc": r"layers.\1.fc",
    **{rf"(decoder\.layers\.\d+)\.self_attn\.{new}_proj\.": rf"\1.sa_{old}_proj." for new, old in _NAMES.items()},
    **{rf"(decoder\.layers\.\d+)\.encoder_attn\.{new}_proj\.": rf"\1.ca_{old}_proj." for new, old in _NAMES.items()},
    r"(decoder\.layers\.\d+)\.encoder_attn\.q_pos_sine_proj\.": r"\1.ca_qpos_sine_proj.",
    **DETR_MASKS,
}

_ROWS = 50  # of each learned table of positions


def spec(c: Config) -> Spec[LearnedQueries]:
    return learned_queries(c, families.convolutional(c))


def blueprint(s: Spec[LearnedQueries]) -> Block:
    d, sizes, norm, widths = s.hidden, s.own, layer_norm(s.hidden), s.own.widths
    square, table, wide = Linear(d, d, True), embedding(_ROWS, d // 2), s.layers[0].layer.dense.width
    projection = Linear(d, d, True, "attention")

    def layer(first: bool) -> Block:
        apart = {f"sa_{name}_proj": projection for name in _NAMES.values()}
        # Only the first layer adds what it knows of places to queries.
        crossed = {f"ca_{name}_proj": projection for name in _NAMES.values() if first or name != "qpos"}
        return Block(
            {
                **apart,
                "self_attn": block("attention", out_proj=square),
                "self_attn_layer_norm": norm,
                **crossed,
                "ca_qpos_sine_proj": projection,
                "encoder_attn": block("attention", out_proj=square),
                "encoder_attn_layer_norm": norm,
                **fc(d, wide),
                "final_layer_norm": norm,
            }
        )

    decoder = block(
        layers=led(s.depth, layer(True), layer(False)),
        layernorm=norm,
        query_scale=perceptron(d, d, d),
        ref_point_head=perceptron(d, d, 2),
    )
    body = block(
        backbone=block(conv_encoder=block(model=frozen(families.tree(s.part("backbone"))))),
        position_embedding=block("embedding", row_embeddings=table, column_embeddings=table) if sizes.learned else None,
        query_position_embeddings=embedding(sizes.num_queries, d),
        input_projection=block("projector", **conv(widths[-1], d, 1, bias=True).children),
        encoder=block(layers=stack(s.stack("encoder"), lambda layer: detr_layer(d, layer))),
        decoder=decoder,
    )
    predictors = block(
        class_labels_classifier=Linear(d, s.labels, True, "other"), bbox_predictor=perceptron(d, d, d, 4)
    )
    if s.head != "panoptic_segmentation":
        return headed(s, "model", body, object_detection=predictors)
    masks = mask_head(d, s.part("encoder").layers[0].layer.attention.heads, widths[::-1][-3:])
    return Block({"conditional_detr": Block({"model": body, **predictors.children}), **masks.children})
