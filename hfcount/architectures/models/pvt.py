"""PVT: stages of attention to fewer, merged keys, each with positions of its own (arXiv:2102.12122)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("pvt",)  # transformers 5.23: modeling_pvt.py

_HEADS = ("ForImageClassification", "Model")


class PvtLayer(Record):
    """Sizes specific to a layer of PVT: rows of positions, the side of a patch, and places that make one key."""

    rows: int
    kernel: int
    merged: int


class Pvt(Sizes):
    num_channels: int = size("C")


def spec(c: Config) -> Spec[Pvt]:
    count, image = c.int("num_encoder_blocks"), c.int("image_size")
    widths = keys.each(c, "hidden_sizes", count, "d")
    wide = [d * ratio for d, ratio in zip(widths, keys.each(c, "mlp_ratios", count), strict=True)]
    heads, bias = keys.each(c, "num_attention_heads", count), c.bool("qkv_bias", default=True)
    # Each stage sees half as many places as the one before; the last adds a token.
    sides = [
        (image // 2 ** (number + 1) if number else image) // side
        for number, side in enumerate(keys.each(c, "patch_sizes", count))
    ]
    rows = [side * side + (number == count - 1) for number, side in enumerate(sides)]
    kernels, merged = keys.each(c, "strides", count, "P"), keys.each(c, "sequence_reduction_ratios", count, "m")
    sizes = [PvtLayer(rows=n, kernel=side, merged=step) for n, side, step in zip(rows, kernels, merged, strict=True)]
    layers = keys.stages(c, widths, wide, heads, bias=bias, own=sizes)
    model_sizes, d = Pvt.read(c), keys.dim("d", c.ints("hidden_sizes")[-1])
    return keys.imaging(c, layers, _HEADS, 1000, hidden=d, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[Pvt]) -> Block:
    before, embeddings, stages = s.own.num_channels, dict[str, Block](), dict[str, Node]()
    for number, part in enumerate(s.layers):
        of = part.layer.sizes(PvtLayer)
        d = part.layer.width
        embeddings[str(number)] = block(
            "embedding",
            position_embeddings=Tensor((1, of.rows, d)),
            cls_token=Tensor((1, 1, d)) if number == len(s.layers) - 1 else None,
            projection=conv(before, d, of.kernel, bias=True),
            layer_norm=layer_norm(d),
        )
        stages[str(number)] = stack((part,), _layer)
        before = d
    encoder = block(patch_embeddings=Block(embeddings), block=Block(stages), layer_norm=layer_norm(s.hidden))
    return headed(s, "pvt", block(encoder=encoder), image_classification=block(classifier=classifier(s)))


def _layer(layer: Layer) -> Block:
    a, d, side = layer.attention, layer.width, layer.sizes(PvtLayer).merged
    into, inner = Linear(d, d, a.qkv_bias), side > 1
    projections = block(
        query=into,
        key=into,
        value=into,
        sequence_reduction=conv(d, d, side, bias=True) if inner else None,
        layer_norm=layer_norm(d) if inner else None,
    )
    attention = block("attention", self=projections, output=block(dense=Linear(d, d, True)))
    wide = layer.dense.width
    network = block("mlp", dense1=Linear(d, wide, True), dense2=Linear(wide, d, True))
    return block(layer_norm_1=layer_norm(d), attention=attention, layer_norm_2=layer_norm(d), mlp=network)
