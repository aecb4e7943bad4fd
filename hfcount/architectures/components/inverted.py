"""Inverted residuals: layers that widen, convolve each channel alone, and narrow again (arXiv:1801.04381)."""

from typing import Self

from hfcount.architectures.keys import channels, derived_dim, rounded
from hfcount.architectures.layers.convolution import inverted
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block


class Neck(Record):
    """Channels between layers, and what a layer that begins with them widens them to."""

    width: int
    wide: int

    @classmethod
    def read(cls, c: Config, number: int, width: int, *, step: int = 8, least: int | None = None) -> Self:
        """The neck called C`number`, widened by expand_ratio; `step` and `least` are as for `keys.rounded`."""
        wide = rounded(round(width * c.number("expand_ratio")), step, least)
        return cls(
            width=width,
            wide=derived_dim(c, f"E{number}", wide, f"C{number} · {{expand_ratio}}, rounded, {channels(step, least)}"),
        )

    def tensors(self, outputs: int) -> Block:
        """A layer from this neck to one of `outputs` channels; see `inverted`."""
        return inverted(self.width, self.wide, outputs)
