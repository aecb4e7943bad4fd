"""Parts of diffusers' autoencoders of videos: convolutions over frames, residual blocks, levels of them."""

from collections.abc import Callable

from hfcount.architectures.layers.convolution import conv, led
from hfcount.architectures.layers.norms import layer_norm
from hfcount.spec.tree.nodes import Block, Node, block

# diffusers 0.42.1: models/autoencoders

Norm = Callable[[int], Block]


def conv3d(inputs: int, outputs: int, side: int = 3) -> Block:
    """A convolution over frames and places. Tensors: weight (outputs, inputs, side, side, side), bias (outputs)."""
    return conv(inputs, outputs, side, side, side, bias=True)


def causal(inputs: int, outputs: int, side: int = 3) -> Block:
    """The same in a module that pads it, so that a frame sees earlier ones alone. Tensors: conv."""
    return block(conv=conv3d(inputs, outputs, side))


def level(count: int, before: int, width: int, body: Callable[[int, int], Block]) -> Node:
    """`count` residual blocks, of which the first takes what the level before gives."""
    return led(count, body(before, width), body(width, width)) if count else Block({})


def residual_with(inputs: int, outputs: int, convolution: Callable[[int, int], Block], norm: Norm) -> Block:
    """A residual block of such convolutions and norms. Tensors: norm1, conv1, norm2, conv2, conv_shortcut (1, 1, 1)."""
    return block(
        norm1=norm(inputs),
        conv1=convolution(inputs, outputs),
        norm2=norm(outputs),
        conv2=convolution(outputs, outputs),
        conv_shortcut=None if inputs == outputs else conv3d(inputs, outputs, 1),
    )


def residual3d(inputs: int, outputs: int) -> Block:
    """A residual block of causal convolutions. Tensors: norm1, conv1, norm2, conv2, conv_shortcut if they differ."""
    return block(
        norm1=layer_norm(inputs),
        conv1=causal(inputs, outputs),
        norm2=layer_norm(outputs),
        conv2=causal(outputs, outputs),
        conv_shortcut=None if inputs == outputs else causal(inputs, outputs, 1),
    )
