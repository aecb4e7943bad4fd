"""Heads for semantic segmentation."""

from collections.abc import Sequence

from hfcount.architectures.layers.convolution import conv, led, normed
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block


def labelling(inputs: int, labels: int) -> Block:
    """The scores of each label at each place. Tensors: weight (c, inputs, 1, 1), bias (c)."""
    return Block(conv(inputs, labels, 1, bias=True).children, "other")


class Heads:
    """The heads of BEiT and UPerNet, as OpenMMLab names their parts, or with `later` as transformers does since.

    Args:
        labels: the number of labels.
    """

    def __init__(self, labels: int, later: bool = False) -> None:
        self._labels, self._later = labels, later

    def _conv(self, inputs: int, outputs: int, side: int) -> Block:
        return normed(inputs, outputs, side, names=("convolution", "normalization") if self._later else ("conv", "bn"))

    def uper(self, widths: Sequence[int], d: int, scales: int) -> Block:
        """UPerNet's head (arXiv:1807.10221): `widths` are of the features, d is its own, `scales` those it pools."""
        last, later, conv = widths[-1], self._later, self._conv
        pooled = Repeat(Indices.below(scales), Block({"conv" if later else "1": conv(last, d, 1)}))
        lateral = {str(number): conv(width, d, 1) for number, width in enumerate(widths[:-1])}
        return Block(
            {
                "classifier": labelling(d, self._labels),
                "psp_modules": block(blocks=pooled) if later else pooled,
                "psp_bottleneck" if later else "bottleneck": conv(last + scales * d, d, 3),
                "lateral_convs": Block(lateral),
                "fpn_convs": Repeat(Indices.below(len(widths) - 1), conv(d, d, 3)),
                "fpn_bottleneck": conv(len(widths) * d, d, 3),
            }
        )

    def fcn(self, inputs: int, d: int, count: int, joined: bool) -> Block:
        """A convolutional head (arXiv:1411.4038): `count` convolutions; `joined` adds one over input and output."""
        convs = led(count, self._conv(inputs, d, 3), self._conv(d, d, 3)) if count else None
        both = self._conv(inputs + d, d, 3) if joined else None
        return block(convs=convs, conv_cat=both, classifier=labelling(d, self._labels))


def deeplab(inputs: int, d: int, labels: int) -> Block:
    """DeepLabV3's head (arXiv:1706.05587): aspp, convolutions with three dilations and image pooling, and classifier.

    Each has d output channels.
    """
    far, near = normed(inputs, d, 3), normed(inputs, d, 1)
    convs = Block({"0": near, "1": far, "2": far, "3": far, "4": block(conv_1x1=near)})
    return block(
        aspp=block(convs=convs, project=normed(5 * d, d, 1)), classifier=block(convolution=labelling(d, labels))
    )
