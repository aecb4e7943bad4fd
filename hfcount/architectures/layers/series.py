"""Parts of models of time series."""

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block


def drawn(inputs: int, outputs: int, parameters: int) -> Block:
    """The parameters of a distribution, each of `outputs` values. Tensors: proj.i (outputs, inputs), with biases."""
    return block("other", proj=Repeat(Indices.below(parameters), Linear(inputs, outputs, True)))


def forecast(inputs: int, outputs: int, parameters: int) -> Block | Linear:
    """A projection to values, or with `parameters` to those of their distribution."""
    return drawn(inputs, outputs, parameters) if parameters else Linear(inputs, outputs, True, "other")
