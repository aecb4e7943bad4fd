"""Convolutions along time, and what often stands beside them."""

from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.norms import layer_norm
from hfcount.spec.tree.nodes import Block, Component, Tensor, block


def conv(inputs: int, outputs: int, kernel: int, bias: bool = True, component: Component | None = None) -> Block:
    """A convolution. Tensors: weight (outputs, inputs, kernel) and, with `bias`, bias (outputs)."""
    return block(component, weight=Tensor((outputs, inputs, kernel)), bias=Tensor((outputs,)) if bias else None)


def upsampling(inputs: int, outputs: int, kernel: int, bias: bool = True, component: Component | None = None) -> Block:
    """A transposed convolution. Tensors: weight (inputs, outputs, kernel) and, with `bias`, bias (outputs)."""
    return block(component, weight=Tensor((inputs, outputs, kernel)), bias=Tensor((outputs,)) if bias else None)


def conformer_convolution(d: int, kernel: int, batch: bool) -> Block:
    """The convolution of a conformer (arXiv:2005.08100).

    Tensors: layer_norm (d), pointwise_conv1 (2·d, d, 1), depthwise_conv (d, 1, kernel), batch_norm or
    depthwise_layer_norm (d), pointwise_conv2 (d, d, 1).
    """
    return block(
        "other",
        layer_norm=layer_norm(d),
        pointwise_conv1=conv(d, 2 * d, 1, False),
        depthwise_conv=conv(1, d, kernel, False),
        batch_norm=batch_norm(d) if batch else None,
        depthwise_layer_norm=None if batch else layer_norm(d),
        pointwise_conv2=conv(d, d, 1, False),
    )
