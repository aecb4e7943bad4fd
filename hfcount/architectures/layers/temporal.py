"""Convolutions along time, as they are or with normalised weights, and LSTMs."""

from collections.abc import Callable

from hfcount.architectures.layers.norms import layer_norm
from hfcount.spec.tree.nodes import Block, Component, Tensor, block


def conv(inputs: int, outputs: int, kernel: int, bias: bool = True, component: Component | None = None) -> Block:
    """A convolution. Tensors: weight (outputs, inputs, kernel) and, with `bias`, bias (outputs)."""
    return block(component, weight=Tensor((outputs, inputs, kernel)), bias=Tensor((outputs,)) if bias else None)


def upsampling(inputs: int, outputs: int, kernel: int, bias: bool = True, component: Component | None = None) -> Block:
    """A transposed convolution. Tensors: weight (inputs, outputs, kernel) and, with `bias`, bias (outputs)."""
    return block(component, weight=Tensor((inputs, outputs, kernel)), bias=Tensor((outputs,)) if bias else None)


Convolution = Callable[[int, int, int, bool], Block]
"""Builds a convolution of these inputs, outputs and kernel; transposed or not."""


def plain(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """A plain convolution. Tensors: conv, with a bias."""
    return block(conv=(upsampling if transposed else conv)(inputs, outputs, kernel))


def grouped(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """A convolution followed by a norm. Tensors: conv, norm (outputs)."""
    return Block({**plain(inputs, outputs, kernel, transposed).children, "norm": layer_norm(outputs)})


def normalised(inputs: int, outputs: int, kernel: int, transposed: bool = False, bias: bool = True) -> Block:
    """A convolution with weight normalisation. Tensors: parametrizations.weight.original0 and original1, bias."""
    first, second = (inputs, outputs) if transposed else (outputs, inputs)
    parted = block(original0=Tensor((first, 1, 1)), original1=Tensor((first, second, kernel)))
    return block(bias=Tensor((outputs,)) if bias else None, parametrizations=block(weight=parted))


def lstm(inputs: int, d: int, layers: int, both: bool = False) -> Block:
    """Long short-term memory (https://doi.org/10.1162/neco.1997.9.8.1735), with `both` in both directions.

    Tensors: weight_ih_l0 (4·d, inputs), in further layers (4·d, d) or for `both` (4·d, 2·d); weight_hh_l0 (4·d, d),
    bias_ih_l0 and bias_hh_l0 (4·d); and so on for each layer, and for the way back with _reverse.
    """
    weights = dict[str, Tensor]()
    for number in range(layers):
        for way in ("", "_reverse") if both else ("",):
            weights[f"weight_ih_l{number}{way}"] = Tensor((4 * d, inputs))
            weights[f"weight_hh_l{number}{way}"] = Tensor((4 * d, d))
            weights[f"bias_ih_l{number}{way}"] = weights[f"bias_hh_l{number}{way}"] = Tensor((4 * d,))
        inputs = 2 * d if both else d
    return Block(weights, "other")
