"""Mask2Former: queries that attend within the masks they predict (arXiv:2112.01527)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.masks import LEVELS, Masked, fused_attention, masking, numbered_steps
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.classic import fc, headed
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block, buffer

MODEL_TYPES = ("mask2former",)  # transformers 5.23: modeling_mask2former.py
IGNORED = ("train_num_points", "ignore_value")

_HEADS = keys.named(ForUniversalSegmentation="universal_segmentation", Model="base")


class Mask2Former(Record):
    masks: Masked
    mask_feature_size: int
    projected: bool


def spec(c: Config) -> Spec[Mask2Former]:
    backbone = families.backbone(c)
    widths = channels(chosen(c.part("backbone_config")), backbone)
    mask = keys.dim("d_m", c.int("mask_feature_size"))
    projected = c.bool("enforce_input_projection", default=False)
    body = masking(c, _HEADS, backbone, widths, "feature_size", "feature_strides")
    return body.having(Mask2Former(masks=body.own, mask_feature_size=mask, projected=projected))


def blueprint(s: Spec[Mask2Former]) -> Block:
    d, sizes, norm, inner = s.hidden, s.own, layer_norm(s.hidden), s.part("encoder").hidden
    queries, mask = embedding(sizes.masks.num_queries, d), sizes.mask_feature_size

    def layer_block(layer: Layer) -> Block:
        first = block(self_attn=square_attention(d, out="out_proj"), self_attn_layer_norm=norm)
        crossed = block(cross_attn=fused_attention(d), cross_attn_layer_norm=norm)
        return Block({**first.children, **crossed.children, **fc(d, layer.dense.width), "final_layer_norm": norm})

    into = Repeat(Indices.below(LEVELS), conv(inner, d, 1, bias=True))
    decoder = block(
        layers=stack(s.layers, layer_block),
        layernorm=norm,
        mask_predictor=block(mask_embedder=numbered_steps(d, d, d, mask)),
    )
    pixels = sizes.masks.pixels(s.part("encoder"), mask)
    body = block(
        pixel_level_module=block(encoder=families.tree(s.part("backbone")), decoder=pixels),
        transformer_module=block(
            queries_embedder=queries,
            queries_features=queries,
            input_projections=into if sizes.projected or int(inner) != int(d) else None,
            decoder=decoder,
            level_embed=embedding(LEVELS, d),
        ),
    )
    labels = s.labels + 1
    heads = block(class_predictor=Linear(d, labels, True, "other"), criterion=block(empty_weight=buffer(labels)))
    return headed(s, "model", body, universal_segmentation=heads)
