"""Models of time series: what they are given, and what they are to say."""

from hfcount.architectures.keys.sizes import dim
from hfcount.mapper import Config

_PARAMETERS = {"student_t": 3, "normal": 2, "negative_binomial": 2}


def distribution(c: Config) -> int:
    """How many parameters the distribution has whose values a model predicts."""
    return _PARAMETERS[c.choice("distribution_output", _PARAMETERS, "student_t")]


def forecast(c: Config) -> int:
    """The same, or 0 if the values themselves are predicted, because the loss is their squared error."""
    return 0 if c.str("loss", default="mse") == "mse" else distribution(c)


def series_patches(c: Config, side: int, step: int) -> int:
    """The number of patches in context_length values."""
    length = c.int("context_length", default=32)
    if length <= side:
        said = f"context_length {int(length):,} must exceed patch_length {int(side):,}."
        raise c.error("out-of-range", said, "context_length", "Correct one of them.")
    return dim("n_p", (length - side) // c.int("patch_stride", default=step) + 1)
