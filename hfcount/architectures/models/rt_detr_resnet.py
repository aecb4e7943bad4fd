"""RT-DETR's ResNet: a stem of three convolutions, and ways around that are pooled first (arXiv:2304.08069)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.convolution import led, normed
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Node, block

MODEL_TYPES = ("rt_detr_resnet",)  # transformers 5.23: modeling_rt_detr_resnet.py
IGNORED = ("out_indices", "downsample_in_bottleneck", "stage_names")

_REDUCTION = 4  # by how much a bottleneck is narrower than the layer


class RtDetrResnet(Sizes):
    num_channels: int = size("C")
    embedding_size: int = size("d0")
    bottleneck: bool
    downsample_in_first_stage: bool = flag(absent=False)


def spec(c: Config) -> Spec[RtDetrResnet]:
    kind = c.choice("layer_type", ("basic", "bottleneck"), "bottleneck")
    widths = c.ints("hidden_sizes")
    layers = keys.stages(c, widths[: c.length("depths")])
    sizes = RtDetrResnet.read(c, bottleneck=kind == "bottleneck")
    model = keys.encoding(c, layers, {"Backbone": "base"}, hidden=layers[-1].layer.width)
    return model.replace(features=(sizes.embedding_size, *(layer.layer.width for layer in layers))).having(sizes)


def blueprint(s: Spec[RtDetrResnet]) -> Block:
    of, before = s.own, s.own.embedding_size

    def layer(inputs: int, d: int, smaller: bool, first: bool = True) -> Block:
        narrow = d // _REDUCTION
        deep = [(inputs, narrow, 1), (narrow, narrow, 3), (narrow, d, 1)]
        steps = deep if of.bottleneck else [(inputs, d, 3), (d, d, 3)]
        wider = inputs != d
        way: Node | None = normed(inputs, d, 1) if first and (wider or smaller or not of.bottleneck) else None
        if way is not None and (smaller if of.bottleneck else wider):
            way = block(**{"1": way})
        made = {str(number): normed(*sizes) for number, sizes in enumerate(steps)}
        return block(shortcut=way, layer=Block(made))

    stages = dict[str, Block]()
    for number, part in enumerate(s.layers):
        d = part.layer.width
        smaller = bool(number or of.downsample_in_first_stage)
        rest = layer(d, d, False, first=False)
        stages[str(number)] = block(layers=led(part.indices.count, layer(before, d, smaller), rest))
        before = d
    first = of.embedding_size
    widths = [(of.num_channels, first // 2), (first // 2, first // 2), (first // 2, first)]
    stem = {str(number): normed(into, out, 3) for number, (into, out) in enumerate(widths)}
    return block(embedder=block(embedder=Block(stem)), encoder=block(stages=Block(stages)))
