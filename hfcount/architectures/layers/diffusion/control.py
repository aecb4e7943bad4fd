"""What ControlNets of diffusers have beside the model that they steer (arXiv:2302.05543)."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from hfcount.architectures.layers.diffusion.layers import conv, numbered
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block


def hint(inputs: int, widths: Sequence[int], outputs: int) -> Block:
    """What embeds the image that steers: conv_in, two blocks from each width to the next, and conv_out."""
    blocks = [one for before, d in pairwise(widths) for one in (conv(before, before), conv(before, d))]
    return block(conv_in=conv(inputs, widths[0]), blocks=numbered(blocks), conv_out=conv(widths[-1], outputs))


def outlets(first: int, stages: Iterable[tuple[int, int]]) -> tuple[Node, ...]:
    """A convolution for each output of the way down: of conv_in, which is `first` wide, and of each stage.

    Args:
        stages: how wide each is, and how many outputs it has.
    """
    found, place = [Repeat(Indices.fixed(0), conv(first, first, 1))], 1
    for width, count in stages:
        found.append(Repeat(Indices(range(place, place + int(count)), count), conv(width, width, 1)))
        place += int(count)
    return tuple(found)
