"""EfficientNet: inverted residuals with squeeze and excitation, scaled in width and depth (arXiv:1905.11946)."""

from math import ceil

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise, normed
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.dims import Dim, origin, stated
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("efficientnet", "align_vision_model")  # transformers 5.23: modeling_efficientnet.py, modeling_align.py
IGNORED = ("image_size", "strides", "depthwise_padding", "num_hidden_layers")

_HEADS = ("ForImageClassification", "Model")
_STEM, _TOP = 32, 1280  # channels, before they are scaled


class EfficientnetLayer(Record):
    """Sizes specific to a layer of EfficientNet.

    `inputs` are the channels that its stage takes; `inputs_narrow` and `narrow` what those of its first block, and of
    the others, are squeezed to.
    """

    inputs: int
    inputs_narrow: int
    narrow: int
    kernel: int
    ratio: int


class Efficientnet(Sizes):
    """Sizes specific to EfficientNet; `stem` and `top` are channels before and behind its blocks."""

    num_channels: int = size("C")
    stem: int
    top: int


def spec(c: Config) -> Spec[Efficientnet]:
    c.choice("pooling_type", ("mean", "max"), "mean")
    factor, step, least = c.number("width_coefficient"), c.int("depth_divisor"), 1
    deeper, squeezed = c.number("depth_coefficient"), c.number("squeeze_expansion_ratio")

    def width(symbol: str, base: int) -> Dim:
        given = base.source if isinstance(base, Dim) else base
        return keys.derived_dim(
            c,
            symbol,
            keys.rounded(base * factor, step),
            f"{given} · {{width_coefficient}}, in channels of {stated(step)}",
        )

    def narrow(symbol: str, size: Dim) -> Dim:
        made = max(least, int(size * squeezed))
        return keys.derived_dim(c, symbol, made, f"{size.symbol} · {{squeeze_expansion_ratio}}, at least {least}")

    names = ("in_channels", "out_channels", "kernel_sizes", "expand_ratios", "num_block_repeats")
    lists = zip(*(keys.each(c, name, len(c.ints("in_channels"))) for name in names), strict=True)
    layers, start = [], 0
    for number, (before, after, side, ratio, repeats) in enumerate(lists, 1):
        inputs, d, many = width(f"C{number}", before), width(f"d{number}", after), origin(repeats).partition(", ")[0]
        deep = f"{many} · {{depth_coefficient}}, rounded up"
        depth = keys.derived_dim(c, "", ceil(deeper * max(0, repeats)), deep)
        model_sizes = EfficientnetLayer(
            inputs=inputs,
            inputs_narrow=narrow(f"s{number}", inputs),
            narrow=narrow(f"r{number}", d),
            kernel=keys.dim(f"w{number}", side),
            ratio=keys.dim(f"e{number}", ratio),
        )
        layer = Layer(stage_width=d, own=model_sizes)
        layers.append(Layers(indices=Indices(range(start, start + int(depth)), depth), layer=layer))
        start += int(depth)
    if not layers:
        raise c.error("out-of-range", "in_channels names no stage.", "in_channels")
    sizes = Efficientnet.read(c, stem=width("C_s", _STEM), top=width("C_t", _TOP))
    d = keys.dim("d", c.int("hidden_dim"))
    heads = ("Model",) if c.family == "align_vision_model" else _HEADS
    return keys.imaging(c, layers, heads, hidden=d, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[Efficientnet]) -> Block:
    def layer_block(layer: Layer, inputs: int, narrow: int) -> Block:
        of = layer.sizes(EfficientnetLayer)
        wide = inputs * of.ratio
        side, d, names = of.kernel, layer.width, ("project_conv", "project_bn")
        return block(
            expansion=normed(inputs, wide, 1, names=("expand_conv", "expand_bn")) if of.ratio != 1 else None,
            depthwise_conv=block(depthwise_conv=depthwise(wide, side), depthwise_norm=batch_norm(wide)),
            squeeze_excite=block(reduce=conv(wide, narrow, 1, bias=True), expand=conv(narrow, wide, 1, bias=True)),
            projection=normed(wide, d, 1, names=names),
        )

    layers = list[Node]()
    for part in s.layers:
        layer, shape, numbers = part.layer, part.layer.sizes(EfficientnetLayer), part.indices
        start, count = numbers.base[0] if numbers.base else 0, numbers.count
        if count > 0:
            layers.append(Repeat(Indices.of((start,)), layer_block(layer, shape.inputs, shape.inputs_narrow)))
        if count > 1:
            later = Indices(range(start + 1, start + int(count)), count - 1)
            layers.append(Repeat(later, layer_block(layer, layer.width, shape.narrow)))
    of = s.own
    top, last = of.top, s.layers[-1].layer.width
    ends = block(top_conv=conv(last, top, 1), top_bn=batch_norm(s.hidden)).children
    encoder = Block({"blocks": tuple(layers), **({} if s.family == "align_vision_model" else ends)})
    stem = normed(of.num_channels, of.stem, 3, names=("convolution", "batchnorm"))
    body = block(embeddings=stem, encoder=encoder)
    return headed(s, "efficientnet", body, image_classification=block(classifier=classifier(s)))
