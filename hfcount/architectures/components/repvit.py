"""RepViTs as timm builds and names them, from a name alone (arXiv:2307.09283)."""

from typing import NamedTuple

from hfcount.architectures.keys import dim
from hfcount.architectures.layers.convolution import batch_norm, conv, normed
from hfcount.spec import Layer, Layers, Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block


class RepViTLayer(Record):
    """Sizes specific to a layer: the squeezed width of some of its blocks."""

    squeezed: int


class KnownRepViT(NamedTuple):
    """Whether its blocks are those of the first release, the width and the layers of each stage."""

    first: bool
    widths: tuple[int, ...]
    depths: tuple[int, ...]

    def layers(self, last: int) -> list[Layers]:
        """The first `last` stages, and how wide each is."""
        layers = []
        for number, (width, depth) in enumerate(zip(self.widths[:last], self.depths, strict=False)):
            squeezed = max(8, (width // 4 + 4) // 8 * 8)  # a quarter, rounded to a multiple of 8
            sizes = RepViTLayer(squeezed=dim(f"r{number + 1}", squeezed))
            d = dim(f"d{number + 1}", width)
            layers.append(Layers(indices=Indices.below(depth), layer=Layer(stage_width=d, own=sizes)))
        return layers


REPVITS = {
    "repvit_m1": KnownRepViT(True, (48, 96, 192, 384), (2, 2, 14, 2)),
    "repvit_m2": KnownRepViT(True, (64, 128, 256, 512), (2, 2, 12, 2)),
    "repvit_m3": KnownRepViT(True, (64, 128, 256, 512), (4, 4, 18, 2)),
    "repvit_m0_9": KnownRepViT(False, (48, 96, 192, 384), (2, 2, 14, 2)),
    "repvit_m1_0": KnownRepViT(False, (56, 112, 224, 448), (2, 2, 14, 2)),
    "repvit_m1_1": KnownRepViT(False, (64, 128, 256, 512), (2, 2, 12, 2)),
    "repvit_m1_5": KnownRepViT(False, (64, 128, 256, 512), (4, 4, 24, 4)),
    "repvit_m2_3": KnownRepViT(False, (80, 160, 320, 640), (6, 6, 34, 2)),
}


class RepViT(Record):
    """A RepViT, of the `first` release or later; `features` says whether only those of its stages are asked for."""

    first: bool
    features: bool
    num_channels: int

    def tensors(self, layers: tuple[Layers, ...]) -> dict[str, Node]:
        """Its tensors: stem, and stages of downsample and blocks, of which every other is squeezed.

        If only features are asked for, the stages are numbered in their names.
        """
        before = layers[0].layer.width
        children = dict[str, Node]()
        for number, part in enumerate(layers):
            d, count = part.layer.width, int(part.indices.count)
            smaller = block(
                pre_block=self._mixed(before),
                spatial_downsample=_step(before, before, 3, before),
                channel_downsample=_step(before, d, 1),
                ffn=_across(d),
            )
            squeezed, plain = Indices.of(range(0, count, 2)), Indices.of(range(1, count, 2))
            narrow = part.layer.sizes(RepViTLayer).squeezed
            blocks = Repeat(squeezed, self._mixed(d, narrow)), Repeat(plain, self._mixed(d))
            children[str(number)] = block(downsample=smaller if number else None, blocks=blocks)
            before = d
        d = layers[0].layer.width
        stem = block(conv1=_step(self.num_channels, d // 2, 3), conv2=_step(d // 2, d, 3))
        named: dict[str, Node] = {f"stages_{number}": node for number, node in children.items()}
        return {"stem": stem, **(named if self.features else {"stages": Block(children)})}

    def _mixed(self, d: int, squeezed: int | None = None) -> Block:
        mixer = block(
            conv=_step(d, d, 3, d),
            conv1=_step(d, d, 1, d) if self.first else conv(d, d, 1, groups=d, bias=True),
            bn=None if self.first else batch_norm(d),
        )
        se = squeezed and block(fc1=conv(d, squeezed, 1, bias=True), fc2=conv(squeezed, d, 1, bias=True))
        return block(token_mixer=mixer, se=se or None, channel_mixer=_across(d))


def _step(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    return normed(inputs, outputs, side, groups=groups, names=("c", "bn"))


def _across(d: int) -> Block:
    return block(conv1=_step(d, 2 * d, 1), conv2=_step(2 * d, d, 1))
