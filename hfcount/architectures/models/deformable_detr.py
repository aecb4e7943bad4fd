"""Deformable DETR: attention to few places of several levels, in one stage or two (arXiv:2010.04159)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import (
    Levels,
    detecting,
    detr_layer,
    learned_places,
    perceptron,
    sampling,
    tied_perceptron,
)
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.convolution import frozen
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block

MODEL_TYPES = ("deformable_detr",)  # transformers 5.23: modeling_deformable_detr.py
IGNORED = ("dilation", "two_stage_num_proposals", "return_intermediate")
SPELLINGS = {
    r"backbone\.(?!conv_encoder\.)": "backbone.conv_encoder.",
    r"self_attn\.o_proj\.": "self_attn.out_proj.",
    r"layers\.(\d+)\.mlp\.fc": r"layers.\1.fc",
}

_ROWS = 50  # of each learned table of positions
_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class DeformableDetr(Sizes):
    levels: Levels
    num_queries: int = size("n_q")
    encoder_n_points: int = size("n_s")
    decoder_n_points: int = size("n_z")
    learned: bool = derived(learned_places)
    two_stage: bool = flag(absent=False)


def spec(c: Config) -> Spec[DeformableDetr]:
    levels = c.int("num_feature_levels", maximum=64)
    first = (2, 3, 4) if levels > 1 else (4,)
    inner = families.convolutional(c, first)
    places = chosen(c.part("backbone_config")) if c.given("backbone_config") else list(first)
    widths = channels(places, inner)
    sizes = DeformableDetr.read(c, levels=Levels(widths=tuple(widths), count=keys.dim("n_l", levels)))
    if c.bool("with_box_refine", default=False) or sizes.two_stage or not c.bool("tie_word_embeddings", default=True):
        raise UnknownArchitecture(
            f"{c.where}: what with_box_refine, two_stage and untied predictions add is not described."
        )
    return detecting(c, _HEADS, inner, sizes)


def blueprint(s: Spec[DeformableDetr]) -> Block:
    d, sizes, norm, levels = s.hidden, s.own, layer_norm(s.hidden), s.own.levels.count
    table = embedding(_ROWS, d // 2)

    def encoder(layer: Layer) -> Block:
        vision_width = sampling(d, levels * sizes.encoder_n_points, layer.attention.heads)
        first = {"self_attn": vision_width, "self_attn_layer_norm": norm}
        return Block({**first, **fc(d, layer.dense.width), "final_layer_norm": norm})

    def decoder(layer: Layer) -> Block:
        return detr_layer(d, layer, sampling(d, levels * sizes.decoder_n_points, layer.attention.heads))

    body = block(
        backbone=block(
            conv_encoder=block(model=frozen(families.tree(s.part("backbone")))),
        ),
        position_embedding=block("embedding", row_embeddings=table, column_embeddings=table) if sizes.learned else None,
        input_proj=sizes.levels.tensors(d),
        query_position_embeddings=embedding(sizes.num_queries, 2 * d),
        encoder=block(layers=stack(s.stack("encoder"), encoder)),
        decoder=block(layers=stack(s.layers, decoder)),
        level_embed=Tensor((levels, d), component="embedding"),
        reference_points=Linear(d, 2, True, "other"),
    )
    if s.head == "base":
        return body
    first, rest = Indices.below(1), Indices(range(1, max(1, int(s.depth))), s.depth - 1)
    label = (
        Tied("class_embed.0.weight", (s.labels, d), "other"),
        Tied("class_embed.0.bias", (s.labels,), "other", name="bias"),
    )
    # All layers share one prediction, which is stored under the first one's name.
    classes: Node = (Repeat(first, Linear(d, s.labels, True, "other")), Repeat(rest, label))
    boxes: Node = (Repeat(first, perceptron(d, d, d, 4)), Repeat(rest, tied_perceptron("bbox_embed.0", d, d, d, 4)))
    return block(model=body, class_embed=classes, bbox_embed=boxes)
