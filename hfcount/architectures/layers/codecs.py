"""Convolutions of codecs, as they are or with normalised weights."""

from collections.abc import Callable

from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.spec.tree.nodes import Block, Tensor, block

Convolution = Callable[[int, int, int, bool], Block]
"""Builds a convolution of these inputs, outputs and kernel; transposed or not."""


def plain(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """A convolution as it is. Tensors: conv, with a bias."""
    return block(conv=(upsampling if transposed else conv)(inputs, outputs, kernel))


def grouped(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """The same with a norm behind it. Tensors: conv, norm (outputs)."""
    return Block({**plain(inputs, outputs, kernel, transposed).children, "norm": layer_norm(outputs)})


def normalised(inputs: int, outputs: int, kernel: int, transposed: bool = False, bias: bool = True) -> Block:
    """The same under no name of its own."""
    first, second = (inputs, outputs) if transposed else (outputs, inputs)
    parted = block(original0=Tensor((first, 1, 1)), original1=Tensor((first, second, kernel)))
    return block(bias=Tensor((outputs,)) if bias else None, parametrizations=block(weight=parted))
