"""LayoutLMv2 and LayoutXLM: words with their places, and a page as detectron2's ResNeXt sees it (arXiv:2012.14740)."""

from typing import Self

from hfcount.architectures import keys
from hfcount.architectures.components.detectron import FeaturePyramid
from hfcount.architectures.layers import embedding, layer_norm, stack, within
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.encoders import bert_embeddings, bert_heads, bert_layer
from hfcount.mapper import Config, Sizes, flag, part, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete

# transformers 5.23: modeling_layoutlmv2.py
# The names of the backbone are those of detectron2 0.6, modeling/backbone/resnet.py and fpn.py.
MODEL_TYPES = ("layoutlmv2", "layoutxlm")
IGNORED = ("max_rel_pos", "max_rel_2d_pos", "convert_sync_batchnorm")

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


class _Page(Record):
    """What sees a page: a backbone, and the channels of what is made of its places."""

    backbone: FeaturePyramid
    channels: int

    @classmethod
    def read(cls, c: Config) -> Self:
        backbone = FeaturePyramid.read(c)
        pooled = c.ints("image_feature_pool_shape", default=(7, 7, backbone.width))
        if len(pooled) < 2 or (len(pooled) > 2 and pooled[2] != backbone.width):
            channels = f"the {backbone.width:,} channels of the backbone"
            text = f"image_feature_pool_shape must be height, width and {channels}."
            raise c.error("list-length", text, "image_feature_pool_shape")
        return cls(backbone=backbone, channels=pooled[-1] if len(pooled) > 2 else backbone.width)


class Layoutlmv2(Sizes):
    max_2d_position_embeddings: int = size("n_2")
    coordinate_size: int = size("d_x")
    shape_size: int = size("d_s")
    rel_pos_bins: int = size("b")
    rel_2d_pos_bins: int = size("b_2")
    fast_qkv: bool = flag(absent=True)
    has_visual_segment_embedding: bool = flag(absent=False)
    has_relative_attention_bias: bool = flag(absent=True)
    has_spatial_attention_bias: bool = flag(absent=True)
    page: _Page = part(_Page)


def spec(c: Config) -> Spec[Layoutlmv2]:
    sizes = Layoutlmv2.read(c)
    return keys.encoder(c, heads=_HEADS, decoding=False).replace(tied=False).having(sizes)


def blueprint(s: Spec[Layoutlmv2]) -> Block:
    d, of, heads = s.hidden, s.own, s.layers[0].layer.attention.heads
    rows, norm = of.max_2d_position_embeddings, layer_norm(s.hidden)
    sizes = {"x": of.coordinate_size, "y": of.coordinate_size, "h": of.shape_size, "w": of.shape_size}
    places = Block({f"{which}_position_embeddings": embedding(rows, width) for which, width in sizes.items()})
    table, two = (Linear(bins, heads, component="attention") for bins in (of.rel_pos_bins, of.rel_2d_pos_bins))
    spatial = two if of.has_spatial_attention_bias else None
    segment = of.has_visual_segment_embedding or s.head == "question_answering"
    colours = obsolete(of.page.backbone.channels, 1, 1)
    backbone = of.page.backbone.tensors()
    body = block(
        embeddings=bert_embeddings(s, more=places),
        visual=Block({"backbone": backbone, "pixel_mean": colours, "pixel_std": colours}, "vision", 0),
        visual_proj=Linear(of.page.channels, d, True, "projector"),
        visual_segment_embedding=Tensor((d,), component="embedding") if segment else None,
        visual_LayerNorm=norm,
        encoder=block(
            layer=stack(s.layers, lambda layer: _layer(d, layer, of.fast_qkv)),
            rel_pos_bias=table if of.has_relative_attention_bias else None,
            rel_pos_x_bias=spatial,
            rel_pos_y_bias=spatial,
        ),
        pooler=block("other", dense=Linear(d, d, True)),
    )
    return bert_heads(s, "layoutlmv2", body, sequence_classification=block(classifier=classifier(s, 3 * d)))


def _layer(d: int, kind: Layer, fused: bool) -> Block:
    layer = bert_layer(d, kind)
    if not fused:
        return layer
    wide = kind.attention.heads * kind.attention.head_dim
    bias = Tensor((1, 1, wide))
    attention = block("attention", qkv_linear=Linear(d, 3 * wide), q_bias=bias, v_bias=bias)
    return within(layer, attention=block(self=attention))
