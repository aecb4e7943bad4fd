"""ViTDet: ViT whose attention is within windows in most layers, for detectors (arXiv:2203.16527)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("vitdet",)  # transformers 5.23: modeling_vitdet.py
IGNORED = ("out_indices",)

_HEADS = keys.named(("Model",), Backbone="backbone")


class VitDetLayer(Record):
    """A layer that sees a square so many patches across, with a `residual` block or not."""

    seen: int
    residual: bool


class VitDet(Record):
    """Sizes specific to ViTDet: whether its attention knows relative positions."""

    relative: bool


def spec(c: Config) -> Spec[VitDet]:
    d, side, window = c.int("hidden_size"), keys.grid(c), c.int("window_size", minimum=0)
    bias, every = c.bool("qkv_bias", default=True), Indices.below(keys.layer_count(c))
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    some, shortened = (keys.numbered(c, f"{name}_block_indices") for name in ("window", "residual"))

    layers = [
        Layers(indices=both, layer=layer.replace(own=VitDetLayer(seen=extent, residual=residual)))
        for near, extent in ((some, window or side), (every.difference(some), side))
        for short, residual in ((shortened, True), (every.difference(shortened), False))
        if (both := intersection(near, short)).count
    ]
    rows = keys.squares(c, "pretrain_image_size") + 1
    learned = c.bool("use_absolute_position_embeddings", default=True)
    sizes, across = VitDet(relative=c.bool("use_relative_position_embeddings", default=False)), keys.patches(c)
    model = keys.imaging(c, layers, _HEADS, hidden=d, positions=rows if learned else None, patches=across)
    return model.having(sizes)


def blueprint(s: Spec[VitDet]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, half, sizes = layer.attention, d // 2, layer.sizes(VitDetLayer)
        table = Tensor((2 * sizes.seen - 1, a.head_dim)) if s.own.relative else None
        attention = altered(fused_square_attention(d, a.qkv_bias), rel_pos_h=table, rel_pos_w=table)
        residual = block(
            conv1=conv(d, half, 1),
            norm1=layer_norm(half),
            conv2=conv(half, half, 3),
            norm2=layer_norm(half),
            conv3=conv(half, d, 1),
            norm3=layer_norm(d),
        )
        shorter, norm = residual if sizes.residual else None, layer_norm(d)
        return block(norm1=norm, attention=attention, norm2=norm, mlp=mlp(d, layer.dense.width), residual=shorter)

    table = Tensor((1, s.positions, d)) if s.positions else None
    embeddings = block("embedding", position_embeddings=table, projection=patch_convolution(s))
    return block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer_block)))
