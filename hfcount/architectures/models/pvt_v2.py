"""PVTv2: stages of attention to fewer keys, after patches that overlap (arXiv:2106.13797)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("pvt_v2",)  # transformers 5.23: modeling_pvt_v2.py
IGNORED = ("image_size", "strides", "out_indices")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")


class PvtV2Layer(Record):
    """Sizes specific to a layer of PVTv2: the side of a patch, and that of places that make one key, if any do."""

    patch_size: int
    merged: int | None


class PvtV2(Sizes):
    num_channels: int = size("C")


def spec(c: Config) -> Spec[PvtV2]:
    count = c.int("num_encoder_blocks")
    widths = keys.each(c, "hidden_sizes", count, "d")
    wide = [d * ratio for d, ratio in zip(widths, keys.each(c, "mlp_ratios", count), strict=True)]
    heads, bias = keys.each(c, "num_attention_heads", count), c.bool("qkv_bias", default=True)
    sides, merged = keys.each(c, "patch_sizes", count, "P"), keys.each(c, "sr_ratios", count, "m")
    linear = c.bool("linear_attention", default=False)
    joined = [1 if linear else side if side > 1 else None for side in merged]
    sizes = [PvtV2Layer(patch_size=side, merged=step) for side, step in zip(sides, joined, strict=True)]
    layers = keys.stages(c, widths, wide, heads, bias=bias, own=sizes)
    model_sizes, d = PvtV2.read(c), keys.dim("d", c.ints("hidden_sizes")[-1])
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[PvtV2]) -> Block:
    before, stages = s.own.num_channels, dict[str, Block]()
    for number, part in enumerate(s.layers):
        d = part.layer.width
        projection = conv(before, d, part.layer.sizes(PvtV2Layer).patch_size, bias=True)
        embedding = block("embedding", proj=projection, layer_norm=layer_norm(d))
        stages[str(number)] = block(patch_embedding=embedding, blocks=stack((part,), _layer), layer_norm=layer_norm(d))
        before = d
    body = block(encoder=block(layers=Block(stages)))
    return headed(s, "pvt_v2", body, image_classification=block(classifier=classifier(s)))


def _layer(layer: Layer) -> Block:
    a, d, side, wide = layer.attention, layer.width, layer.sizes(PvtV2Layer).merged, layer.dense.width
    into, norm = Linear(d, d, a.qkv_bias), layer_norm(d)
    attention = block(
        "attention",
        query=into,
        key=into,
        value=into,
        proj=Linear(d, d, True),
        spatial_reduction=conv(d, d, side, bias=True) if side else None,
        layer_norm=norm if side else None,
    )
    mixed = block(dwconv=depthwise(wide, 3, bias=True))
    network = block("mlp", dense1=Linear(d, wide, True), dwconv=mixed, dense2=Linear(wide, d, True))
    return block(layer_norm_1=norm, attention=attention, layer_norm_2=norm, mlp=network)
