"""Models of timm whose name settles how they are built: ResNets and RepViTs (arXiv:1512.03385, arXiv:2307.09283)."""

from collections.abc import Mapping
from typing import NamedTuple

from hfcount.errors import UnknownArchitecture
from hfcount.keys.sizes import sized
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers
from hfcount.tree.indices import Indices

STEM = 64
"""The width of a ResNet's first convolution."""

_WIDER = 4  # how much wider than its inside a bottleneck is


class ResNet(NamedTuple):
    """Whether it has bottlenecks, the layers of each stage, the width of the first bottleneck."""

    deep: bool
    depths: tuple[int, ...]
    narrow: int = 64


class RepViT(NamedTuple):
    """Whether its blocks are those of the first release, the width and the layers of each stage."""

    first: bool
    widths: tuple[int, ...]
    depths: tuple[int, ...]


RESNETS = {
    "resnet18": ResNet(False, (2, 2, 2, 2)),
    "resnet34": ResNet(False, (3, 4, 6, 3)),
    "resnet26": ResNet(True, (2, 2, 2, 2)),
    "resnet50": ResNet(True, (3, 4, 6, 3)),
    "resnet101": ResNet(True, (3, 4, 23, 3)),
    "resnet152": ResNet(True, (3, 8, 36, 3)),
    "resnet200": ResNet(True, (3, 24, 36, 3)),
    "wide_resnet50_2": ResNet(True, (3, 4, 6, 3), 128),
    "wide_resnet101_2": ResNet(True, (3, 4, 23, 3), 128),
}
REPVITS = {
    "repvit_m1": RepViT(True, (48, 96, 192, 384), (2, 2, 14, 2)),
    "repvit_m2": RepViT(True, (64, 128, 256, 512), (2, 2, 12, 2)),
    "repvit_m3": RepViT(True, (64, 128, 256, 512), (4, 4, 18, 2)),
    "repvit_m0_9": RepViT(False, (48, 96, 192, 384), (2, 2, 14, 2)),
    "repvit_m1_0": RepViT(False, (56, 112, 224, 448), (2, 2, 14, 2)),
    "repvit_m1_1": RepViT(False, (64, 128, 256, 512), (2, 2, 12, 2)),
    "repvit_m1_5": RepViT(False, (64, 128, 256, 512), (4, 4, 24, 4)),
    "repvit_m2_3": RepViT(False, (80, 160, 320, 640), (6, 6, 34, 2)),
}


def resnet(one: ResNet, last: int) -> list[Layers]:
    """The first `last` stages; traits say how wide each is, and its inside."""
    found = []
    for number, depth in enumerate(one.depths[:last]):
        d = sized(f"d{number + 1}", STEM * 2**number * (_WIDER if one.deep else 1))
        traits = {"inner": sized(f"b{number + 1}", one.narrow * 2**number)}
        found.append(Layers(indices=Indices.below(depth), layer=Layer(stage_width=d, traits=traits)))
    return found


def repvit(one: RepViT, last: int) -> list[Layers]:
    """The first `last` stages; traits say how wide each is, and what some of its blocks are squeezed to."""
    found = []
    for number, (width, depth) in enumerate(zip(one.widths[:last], one.depths, strict=False)):
        squeezed = max(8, (width // 4 + 4) // 8 * 8)  # a quarter, rounded to a multiple of 8
        traits = {"squeezed": sized(f"r{number + 1}", squeezed)}
        d = sized(f"d{number + 1}", width)
        found.append(Layers(indices=Indices.below(depth), layer=Layer(stage_width=d, traits=traits)))
    return found


class Built(NamedTuple):
    """What model_args asks of timm: whether only features, how many stages up to the last of them, which channels."""

    features: bool
    last: int
    channels: int


def built(c: Config, stem: int, stages: int) -> Built:
    """By model_args; features count from those of the `stem`, if it gives any, and what comes after them is not built.

    A model without `stages` gives none.

    Raises:
        UnknownArchitecture: it asks for something else.
        ConfigError: it names features that are not there.
    """
    given: Mapping[str, object] = c.object("model_args") or {}
    inner, count = c.part("model_args"), stem + stages
    features, channels = inner.bool("features_only", default=False), inner.int("in_chans", default=3)
    known = {"in_chans", "features_only", *(["out_indices"] if features else [])}
    if given.keys() - known or (features and not stages):
        said = "of what model_args may ask of timm, in_chans is described, and the features of networks in stages."
        raise UnknownArchitecture(f"{c.where}: {said}")
    if not features:
        return Built(features, stages, channels)
    places = inner.ints("out_indices", default=range(count), least=1)
    if any(not -count <= place < count for place in places):
        raise inner.error(f"out_indices must be below {count}.", "out_indices")
    return Built(features, max(int(place) % count for place in places) + 1 - stem, channels)
