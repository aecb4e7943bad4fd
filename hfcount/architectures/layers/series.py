"""Models of time series: the distribution of their forecasts, and its projection."""

from hfcount.architectures.layers.sizes import dim
from hfcount.mapper import Config
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

_PARAMETERS = {"student_t": 3, "normal": 2, "negative_binomial": 2}


def distribution_parameters(c: Config) -> int:
    """The number of parameters of the predicted distribution."""
    return _PARAMETERS[c.choice("distribution_output", _PARAMETERS, "student_t")]


def forecast_parameters(c: Config) -> int:
    """As `distribution_parameters`, but 0 if the loss is the squared error: the values are predicted directly."""
    return 0 if c.str("loss", default="mse") == "mse" else distribution_parameters(c)


def series_patches(c: Config, side: int, step: int, length: int = 32) -> int:
    """The number of patches in context_length values, `length` if that is absent."""
    length = c.int("context_length", default=length)
    if length <= side:
        text = f"context_length {int(length):,} must exceed patch_length {int(side):,}."
        raise c.error("out-of-range", text, "context_length", "Correct one of them.")
    return dim("n_p", (length - side) // c.int("patch_stride", default=step) + 1)


def drawn(inputs: int, outputs: int, parameters: int) -> Block:
    """Projections to a distribution's parameters, each of `outputs` values. Tensors: proj.i (outputs, inputs), bias."""
    return block("other", proj=Repeat(Indices.below(parameters), Linear(inputs, outputs, True)))


def forecast(inputs: int, outputs: int, parameters: int) -> Block | Linear:
    """A projection to values, or to the `parameters` of their distribution."""
    return drawn(inputs, outputs, parameters) if parameters else Linear(inputs, outputs, True, "other")
