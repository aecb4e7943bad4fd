"""LW-DETR: a ViT, convolutions that join its features at several scales, a shallow decoder (arXiv:2406.03459)."""

from math import isqrt

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import perceptron, sampling
from hfcount.architectures.components.lw_detr import Grouped, GroupedLayer, grouped_queries, split_stage
from hfcount.architectures.layers import backbones, embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.convolution import normed, transposed
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("lw_detr",)  # transformers 5.23: modeling_lw_detr.py
IGNORED = ("projector_in_channels", "projector_out_channels")
SPELLINGS = {
    **{rf"attention\.attention\.{name}\.": f"attention.{name[0]}_proj." for name in ("query", "key", "value")},
    r"attention\.output\.": "attention.o_proj.",
}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")
_SCALES = (0.5, 1.0, 2.0)
_WIDE = 512  # features that are wider are made narrower before they are enlarged


class LwDetr(Record):
    """Sizes specific to LW-DETR: `halves` says how many halves of their size the features have at each scale."""

    queries: Grouped
    num_feature_levels: int
    halves: tuple[int, ...]


def spec(c: Config) -> Spec[LwDetr]:
    backbone = backbones.only(c, families.backbone(c), "lw_detr_vit")
    scales = c.entries("projector_scale_factors")
    if any(type(scale) is not float or scale not in _SCALES for scale in scales):
        text = f"projector_scale_factors may name {', '.join(map(str, _SCALES))}."
        raise c.error("unknown-kind", text, "projector_scale_factors", "Correct it.")
    if scales and not backbone.sizes(LwDetrVit).outputs:
        raise c.error(
            "contradiction",
            "the backbone gives no features for the projector.",
            "backbone_config",
            "Name its out_indices.",
        )
    levels = keys.dim("n_l", c.int("num_feature_levels", default=len(scales), minimum=0))
    model = grouped_queries(c, backbone, _HEADS)
    halves = tuple(int(2 * scale) for scale in scales)
    return model.having(LwDetr(queries=model.own, num_feature_levels=levels, halves=halves))


def _scaled(s: Spec[LwDetr], outputs: int, halves: int) -> Block:
    """So many features of a backbone at so many halves of their size, joined."""
    of, width = s.own.queries, s.part("backbone").hidden
    way, out, half, fourth = dict[str, Block](), width, width // 2, width // 4

    def step(into: int, out: int, side: int) -> Block:
        return normed(into, out, side, names=("conv", "norm"))

    if halves == 4 and width > _WIDE:
        way, out = {"0": step(width, half, 1), "1": transposed(half, fourth, 2)}, fourth
    elif halves == 4:
        way, out = {"0": transposed(width, half, 2)}, half
    elif halves == 1:
        way = {"0": step(width, width, 3)}
    return block(
        "projector",
        sampling_layers=Repeat(Indices.below(outputs), block(layers=Block(way))) if way else None,
        projector_layer=split_stage(outputs * out, s.hidden, of.inner, of.c2f_num_blocks, step),
        layer_norm=layer_norm(s.hidden),
    )


def blueprint(s: Spec[LwDetr]) -> Block:
    d, sizes, of, backbone = s.hidden, s.own, s.own.queries, s.part("backbone")
    points, queries = sizes.num_feature_levels * of.decoder_n_points, of.num_queries * of.group_detr

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=mha(d, layer.attention, "o_proj"),
            self_attn_layer_norm=layer_norm(d),
            cross_attn=sampling(d, points, layer.sizes(GroupedLayer).cross_heads),
            cross_attn_layer_norm=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
            layer_norm=layer_norm(d),
        )

    outputs = backbone.sizes(LwDetrVit).outputs
    scales = {str(place): _scaled(s, outputs, halves) for place, halves in enumerate(sizes.halves)}
    body = block(
        backbone=block(backbone=families.tree(backbone), projector=block(scale_layers=Block(scales))),
        reference_point_embed=embedding(queries, 4),
        query_feat=embedding(queries, d),
        decoder=block(
            layers=stack(s.layers, layer_block), layernorm=layer_norm(d), ref_point_head=perceptron(2 * d, d, d)
        ),
        **of.tensors(d, s.labels),
    )
    if s.head == "base":
        return body
    return block(model=body, class_embed=Linear(d, s.labels, True, "other"), bbox_embed=perceptron(d, d, d, 4))


_BACKBONE_HEADS = keys.named(Backbone="backbone")


class LwDetrVit(Sizes):
    outputs: int


def backbone_spec(c: Config) -> Spec[LwDetrVit]:
    """LW-DETR's ViT: a learned scale on each branch, attention within windows in some layers (arXiv:2406.03459)."""
    d, windows, image = c.int("hidden_size"), c.int("num_windows"), c.int("image_size")
    side = isqrt(windows)
    if not windows or side * side != windows or image % (windows * side):
        text = (
            f"num_windows is {windows:,}, but must be a square that, times its root, image_size {image:,} is made of."
        )
        raise c.error("not-divisible", text, "num_windows", "Correct one of them.", observed=int(windows))
    bias = c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="run", own_width=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    learned = c.bool("use_absolute_position_embeddings", default=True)
    rows = keys.squares(c, "pretrain_image_size") + 1 if learned else None
    depth = keys.layer_count(c)
    sizes = LwDetrVit.read(c, outputs=keys.dim("n_o", len(backbones.features(c, depth))))
    layers = keys.uniform(layer, depth)
    return keys.imaging(c, layers, _BACKBONE_HEADS, hidden=d, positions=rows, patches=keys.patches(c)).having(sizes)


def backbone_blueprint(s: Spec[LwDetrVit]) -> Block:
    d, norm, scale = s.hidden, layer_norm(s.hidden), Tensor((s.hidden,))

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        wide = a.heads * a.head_dim
        into, out = Linear(d, wide, a.qkv_bias), Linear(wide, d, True)
        key = Linear(d, wide)  # which never has a bias
        attention = block("attention", q_proj=into, k_proj=key, v_proj=into, o_proj=out)
        if s.adapted:
            attention = block("attention", attention=block(query=into, key=key, value=into), output=out)
        return block(
            attention=attention,
            intermediate=mlp(d, layer.dense.width),
            layernorm_before=norm,
            layernorm_after=norm,
            gamma_1=scale,
            gamma_2=scale,
        )

    table = Tensor((1, s.positions, d)) if s.positions else None
    embeddings = block("embedding", position_embeddings=table, projection=patch_convolution(s))
    return block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer_block)))


PARTS = (
    families.Family(
        ("lw_detr_vit",),
        backbone_spec,
        backbone_blueprint,
        ignored=("window_block_indices", "num_windows_side", "stage_names"),
    ),
)
