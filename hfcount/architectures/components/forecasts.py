"""What Chronos's models have beside their layers: patches of a series in, quantiles of the patches that follow out."""

from hfcount.architectures.keys import dim
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block, Linear, block

_UNREAD = ("context_length", "input_patch_stride", "use_arcsinh", "max_output_patches", "time_encoding_scale")


class Forecast(Record):
    """The rows of the table, those of a patch and its masks, and those of the quantiles of a patch that follows."""

    tokens: int
    inputs: int
    outputs: int


def forecasts(c: Config, inputs: int, ahead: str) -> Forecast:
    """The sizes that `chronos_config` gives.

    Args:
        inputs: how many numbers stand for each point of a patch.
        ahead: the key of how many points are predicted.

    Raises:
        ConfigError: chronos_config lacks a key.
    """
    of = c.part("chronos_config")
    of.without_effect(*_UNREAD)
    points, following = dim("P", of.int("input_patch_size")), dim("t_h", of.int(ahead))
    quantiles = dim("n_q", len(of.entries("quantiles")))
    return Forecast(
        tokens=2 if of.bool("use_reg_token", default=False) else 1,
        inputs=inputs * points,
        outputs=quantiles * following,
    )


def residual(inputs: int, width: int, outputs: int) -> Block:
    """hidden_layer (width, inputs), output_layer (outputs, width) and residual_layer (outputs, inputs), with biases."""
    return block(
        "other",
        hidden_layer=Linear(inputs, width, True),
        output_layer=Linear(width, outputs, True),
        residual_layer=Linear(inputs, outputs, True),
    )
