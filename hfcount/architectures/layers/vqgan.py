"""Convolutional encoder and decoder of images, as in VQGAN (arXiv:2012.09841)."""

from collections.abc import Sequence

from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.vision import convolution
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block


def residual(inputs: int, outputs: int) -> Block:
    """Two convolutions. Tensors: norm1, conv1, norm2, conv2, and nin_shortcut if the widths differ."""
    return block(
        norm1=layer_norm(inputs),
        conv1=convolution(inputs, outputs, 3),
        norm2=layer_norm(outputs),
        conv2=convolution(outputs, outputs, 3),
        nin_shortcut=None if inputs == outputs else convolution(inputs, outputs, 1),
    )


def attending(width: int) -> Block:
    """Attention over the cells of an image. Tensors: norm, q, k, v and proj_out, which are convolutions of side 1."""
    projection = convolution(width, width, 1)
    return block(norm=layer_norm(width), q=projection, k=projection, v=projection, proj_out=projection)


def encoder(inputs: int, first: int, widths: Sequence[int], blocks: int, outputs: int) -> Block:
    """Stages of residual blocks, each but the last of which halves the image; the last one also attends."""
    stages, before = dict[str, Node](), first
    for place, width in enumerate(widths):
        last = place == len(widths) - 1
        named = _stage(before, width, blocks, last)
        stages[str(place)] = named if last else Block({**named.children, "downsample": _resampling(width)})
        before = width
    return block(
        conv_in=convolution(inputs, first, 3),
        down=Block(stages),
        mid=_middle(before),
        norm_out=layer_norm(before),
        conv_out=convolution(before, outputs, 3),
    )


def decoder(inputs: int, widths: Sequence[int], blocks: int, outputs: int) -> Block:
    """The reverse of `encoder`, with one more block per stage; stages are numbered from the smallest image."""
    stages, before = dict[str, Node](), widths[-1]
    for place, width in enumerate(reversed(widths)):
        named = _stage(before, width, blocks + 1, place == 0)
        last = place == len(widths) - 1
        stages[str(place)] = named if last else Block({**named.children, "upsample": _resampling(width)})
        before = width
    return block(
        conv_in=convolution(inputs, widths[-1], 3),
        mid=_middle(widths[-1]),
        up=Block(stages),
        norm_out=layer_norm(before),
        conv_out=convolution(before, outputs, 3),
    )


def _stage(before: int, width: int, blocks: int, attends: bool) -> Block:
    first, rest = Indices.below(min(1, blocks)), Indices(range(1, max(1, blocks)), blocks - 1)
    chain: tuple[Node, ...] = (Repeat(first, residual(before, width)), Repeat(rest, residual(width, width)))
    return block(block=chain, attn=Repeat(Indices.below(blocks), attending(width)) if attends else None)


def _middle(width: int) -> Block:
    both = residual(width, width)
    return block(block_1=both, attn_1=attending(width), block_2=both)


def _resampling(width: int) -> Block:
    return block(conv=convolution(width, width, 3))
