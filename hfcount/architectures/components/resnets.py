"""ResNets as timm builds and names them, from a name alone (arXiv:1512.03385)."""

from typing import NamedTuple

from hfcount.architectures.keys import dim
from hfcount.architectures.layers.convolution import batch_norm, conv, led
from hfcount.spec import Layer, Layers, Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node

_STEM, _WIDER = 64, 4  # the width of the first convolution, and how much wider than its inside a bottleneck is


class ResNetLayer(Record):
    """Sizes specific to a layer: `inner` channels inside."""

    inner: int


class KnownResNet(NamedTuple):
    """Whether it has bottlenecks, the layers of each stage, the width of the first bottleneck."""

    deep: bool
    depths: tuple[int, ...]
    narrow: int = 64

    def layers(self, last: int) -> list[Layers]:
        """The first `last` stages, and how wide each is."""
        layers = []
        for number, depth in enumerate(self.depths[:last]):
            d = dim(f"d{number + 1}", _STEM * 2**number * (_WIDER if self.deep else 1))
            sizes = ResNetLayer(inner=dim(f"b{number + 1}", self.narrow * 2**number))
            layers.append(Layers(indices=Indices.below(depth), layer=Layer(stage_width=d, own=sizes)))
        return layers


RESNETS = {
    "resnet18": KnownResNet(False, (2, 2, 2, 2)),
    "resnet34": KnownResNet(False, (3, 4, 6, 3)),
    "resnet26": KnownResNet(True, (2, 2, 2, 2)),
    "resnet50": KnownResNet(True, (3, 4, 6, 3)),
    "resnet101": KnownResNet(True, (3, 4, 23, 3)),
    "resnet152": KnownResNet(True, (3, 8, 36, 3)),
    "resnet200": KnownResNet(True, (3, 24, 36, 3)),
    "wide_resnet50_2": KnownResNet(True, (3, 4, 6, 3), 128),
    "wide_resnet101_2": KnownResNet(True, (3, 4, 23, 3), 128),
}


class ResNet(Record):
    """A ResNet after a stem `stem` channels wide; `deep` says whether it has bottlenecks."""

    deep: bool
    num_channels: int
    stem: int

    @classmethod
    def known(cls, known: KnownResNet, channels: int) -> "ResNet":
        """One that reads images of so many channels."""
        return cls(deep=known.deep, num_channels=dim("C", channels), stem=dim("d0", _STEM))

    def tensors(self, stages: tuple[Layers, ...]) -> dict[str, Node]:
        """Its tensors: conv1 (d0, C, 7, 7), bn1 (d0), and layerN of convN, bnN and downsample."""
        children: dict[str, Node] = {"conv1": conv(self.num_channels, self.stem, 7), "bn1": batch_norm(self.stem)}
        before = self.stem
        for number, part in enumerate(stages):
            d, inner = part.layer.width, part.layer.sizes(ResNetLayer).inner
            shortened = bool(number or self.deep)  # only a first stage of plain layers keeps width and size
            first, rest = self._layer(before, d, inner, shortened), self._layer(d, d, inner, False)
            children[f"layer{number + 1}"] = led(part.indices.count, first, rest)
            before = d
        return children

    def _layer(self, inputs: int, d: int, inner: int, first: bool) -> Block:
        widths = [(inputs, inner, 1), (inner, inner, 3), (inner, d, 1)] if self.deep else [(inputs, d, 3), (d, d, 3)]
        steps = dict[str, Block]()
        for number, (into, out, side) in enumerate(widths, 1):
            steps |= {f"conv{number}": conv(into, out, side), f"bn{number}": batch_norm(out)}
        way = {"downsample": Block({"0": conv(inputs, d, 1), "1": batch_norm(d)})} if first else {}
        return Block({**steps, **way})
