"""RT-DETR's hybrid encoder: attention within the coarsest level, convolutions across levels (arXiv:2304.08069)."""

from collections.abc import Sequence

from hfcount.parts.convolution import batch_norm, conv, normed
from hfcount.parts.detection import detr_layer, perceptron, sampling
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

_BLOCKS = 3  # of a layer that fuses two levels


def projected(widths: Sequence[int], d: int, further: int = 0, again: int | None = None) -> Block:
    """Each level's features as `d` channels, and `further` levels made of the last one with a larger kernel.

    `again` is the width of what these are made of, after the first of them, if it is not d.
    """
    known = [(width, 1) for width in widths] + [((again or d) if place else widths[-1], 3) for place in range(further)]
    made = {
        str(place): Block({"0": conv(into, d, side), "1": batch_norm(d)}) for place, (into, side) in enumerate(known)
    }
    return Block(made, "projector")


def cross_stage(d: int, hidden: int) -> Block:
    """Two levels fused (arXiv:1911.11929). Tensors: conv1, conv2, bottlenecks, and conv3 where `hidden` is not d."""

    def step(into: int, out: int, side: int) -> Block:
        return normed(into, out, side, names=("conv", "norm"))

    one = block(conv1=step(hidden, hidden, 3), conv2=step(hidden, hidden, 1))
    return block(
        conv1=step(2 * d, hidden, 1),
        conv2=step(2 * d, hidden, 1),
        bottlenecks=Repeat(Indices.below(_BLOCKS), one),
        conv3=step(hidden, d, 1) if int(hidden) != int(d) else None,
    )


def aggregated(d: int, hidden: int, blocks: int) -> Block:
    """Two levels fused by ever deeper ways that are joined at the end (arXiv:2402.13616).

    Tensors: conv1 to conv4, csp_rep1, csp_rep2.
    """

    def step(into: int, out: int, side: int) -> Block:
        return normed(into, out, side, names=("conv", "norm"))

    def way(into: int) -> Block:
        one = block(conv1=step(hidden, hidden, 3), conv2=step(hidden, hidden, 1))
        same = Repeat(Indices.below(blocks), one) if blocks else None
        return block(conv1=step(into, hidden, 1), conv2=step(into, hidden, 1), bottlenecks=same)

    return block(
        conv1=step(2 * d, 2 * d, 1),
        csp_rep1=way(d),
        conv2=step(hidden, hidden, 3),
        csp_rep2=way(hidden),
        conv3=step(hidden, hidden, 3),
        conv4=step(2 * d + 2 * hidden, d, 1),
    )


def separable(d: int) -> Block:
    """A convolution across channels, one within each. Tensors: conv1 (d, d, 1, 1), conv2 (d, 1, 3, 3), with norms."""
    names = ("conv", "norm")
    return block(conv1=normed(d, d, 1, names=names), conv2=normed(d, d, 3, groups=d, names=names))


def hybrid_encoder(inner: Spec, levels: int, attended: int, fused: Block, smaller: Block | None = None) -> Block:
    """An encoder of so many `levels`, with the layers of `inner` in so many of them.

    `fused` joins two levels, and `smaller` halves their size, if not RT-DETR's convolution.

    Tensors: encoder of layers, lateral_convs, fpn_blocks, downsample_convs, pan_blocks.
    """
    d, between = inner.hidden, Indices.below(levels - 1)
    layers = block(layers=stack(inner.layers, lambda one: detr_layer(d, one)))
    return block(
        encoder=Repeat(Indices.below(attended), layers),
        lateral_convs=Repeat(between, normed(d, d, 1, names=("conv", "norm"))),
        fpn_blocks=Repeat(between, fused),
        downsample_convs=Repeat(between, smaller or normed(d, d, 3, names=("conv", "norm"))),
        pan_blocks=Repeat(between, fused),
    )


def normed_linear(d: int) -> Block:
    """A projection and its norm. Tensors: 0 (d, d) and 1 (d), with biases."""
    return Block({"0": Linear(d, d, True), "1": layer_norm(d)}, "other")


def refining(s: Spec, points: int, headed: bool, coordinates: int = 4, beside: Block | None = None) -> Block:
    """A decoder that refines places of so many `coordinates`; each layer's sampling has what is in `beside`, too.

    `points` are those of all levels that a head looks at. Tensors: layers, query_pos_head; if it is `headed`
    class_embed and bbox_embed, one for each layer.
    """
    d, each = s.hidden, Indices.below(s.depth)
    more = beside.children if beside else {}

    def layer(one: Layer) -> Block:
        return detr_layer(d, one, sampling(d, points, one.attention.heads, **more))

    place = perceptron(d, d, d, coordinates)
    return block(
        layers=stack(s.layers, layer),
        query_pos_head=perceptron(coordinates, 2 * d, d),
        class_embed=Repeat(each, Linear(d, s.labels, True, "other")) if headed else None,
        bbox_embed=Repeat(each, place) if headed else None,
    )
