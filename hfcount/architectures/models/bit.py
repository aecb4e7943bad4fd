"""BiT: ResNet with group normalisation, by default before each convolution (arXiv:1912.11370)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, led
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.dims import origin
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("bit",)  # transformers 5.23: modeling_bit.py
IGNORED = ("out_indices", "num_groups", "embedding_dynamic_padding", "output_stride")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")


class BitLayer(Record):
    """Sizes specific to a layer of BiT: `narrow` channels inside."""

    narrow: int


class Bit(Sizes):
    """Sizes specific to BiT; `first` says whether normalisation comes before each convolution."""

    num_channels: int = size("C")
    embedding_size: int = size("d0")
    first: bool


def spec(c: Config) -> Spec[Bit]:
    given, kind = c.ints("hidden_sizes"), c.choice("layer_type", ("preactivation", "bottleneck"), "preactivation")
    factor = c.int("width_factor", default=1)
    widths = [
        keys.derived_dim(
            c, f"d{n}", keys.rounded(size * factor, 8), f"{origin(size)} · {{width_factor}}, {keys.channels(8)}"
        )
        for n, size in enumerate(given, 1)
    ]
    narrow = [
        keys.derived_dim(c, f"r{n}", keys.rounded(d / 4, 8), f"d{n} / 4, {keys.channels(8)}")
        for n, d in enumerate(widths, 1)
    ]
    layers = keys.stages(c, widths[: c.length("depths")], own=[BitLayer(narrow=inside) for inside in narrow])
    sizes = Bit.read(c, first=kind == "preactivation")
    last = keys.dim("d", given[-1])
    model = keys.imaging(c, layers, _HEADS, hidden=last, uncounted=keys.COARSER)
    return model.replace(features=(sizes.embedding_size, *(layer.layer.width for layer in layers))).having(sizes)


def blueprint(s: Spec[Bit]) -> Block:
    of, before = s.own, s.own.embedding_size

    def layer(inputs: int, narrow: int, d: int, first: bool) -> Block:
        way = (inputs, narrow, narrow) if of.first else (narrow, narrow, d)
        shorter = block(conv=conv(inputs, d, 1), norm=None if of.first else layer_norm(d))
        return block(
            downsample=shorter if first else None,
            norm1=layer_norm(way[0]),
            conv1=conv(inputs, narrow, 1),
            norm2=layer_norm(way[1]),
            conv2=conv(narrow, narrow, 3),
            norm3=layer_norm(way[2]),
            conv3=conv(narrow, d, 1),
        )

    stages = dict[str, Block]()
    for number, part in enumerate(s.layers):
        d, narrow, count = part.layer.width, part.layer.sizes(BitLayer).narrow, part.indices.count
        layers = led(count, layer(before, narrow, d, True), layer(d, narrow, d, False)) if count else None
        stages[str(number)] = block(layers=layers)
        before = d
    first = of.embedding_size
    stem = block(convolution=conv(of.num_channels, first, 7), norm=None if of.first else layer_norm(first))
    norm = layer_norm(s.hidden) if of.first else None
    body = block(embedder=stem, encoder=block(stages=Block(stages)), norm=norm)
    if s.head == "backbone":
        return block(bit=body)
    return headed(s, "bit", body, image_classification=block(classifier=Block({"1": classifier(s)})))
