"""Convolutions of DEIMv2 (arXiv:2509.20787)."""

from hfcount.parts.convolution import normed
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block

_COLOURS = 3


def step(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    """A convolution and its norm. Tensors: conv, norm."""
    return normed(inputs, outputs, side, groups=groups, names=("conv", "norm"))


def fused(d: int, inner: int, blocks: int, trailing: bool) -> Block:
    """Two levels, summed, by ever deeper ways that are joined at the end. Tensors: conv1, conv2, csp_rep1, csp_rep2.

    `trailing` says whether each way ends in a further convolution.
    """
    one = block(conv1=step(inner, inner, 3), conv2=step(inner, inner, 1))

    def way(inputs: int) -> Block:
        deep = Repeat(Indices.below(blocks), one) if blocks else None
        last = step(inner, inner, 3) if trailing else None
        return block(conv1=step(inputs, 2 * inner, 1), bottlenecks=deep, conv2=last)

    return block(conv1=step(d, 2 * d, 1), csp_rep1=way(d), csp_rep2=way(inner), conv2=step(2 * d + 2 * inner, d, 1))


def adapter(planes: int) -> Block:
    """Features of an image at four scales. Tensors: stem_conv, conv2, conv3 and conv4, each conv and norm."""
    twice, four = 2 * planes, 4 * planes
    return block(
        "projector",
        stem_conv=step(_COLOURS, planes, 3),
        conv2=step(planes, twice, 3),
        conv3=step(twice, four, 3),
        conv4=step(four, four, 3),
    )
