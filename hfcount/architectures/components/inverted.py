"""Inverted residuals: expansion, depthwise convolution and projection (arXiv:1801.04381)."""

from typing import Self

from hfcount.architectures.keys import channels, derived_dim, rounded
from hfcount.architectures.layers.convolution import normed
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block, block


class Neck(Record):
    """Channels between layers, and the expanded width inside the layer that reads them."""

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
        """A layer from this neck to one of `outputs` channels.

        Tensors: expand_1x1, conv_3x3 and reduce_1x1, each a convolution and a batch normalisation.
        """
        first, last = normed(self.width, self.wide, 1), normed(self.wide, outputs, 1)
        return block(expand_1x1=first, conv_3x3=normed(self.wide, self.wide, 3, groups=self.wide), reduce_1x1=last)
