"""Detectors like DETR: what they take of a backbone (arXiv:2005.12872)."""

from typing import Self

from hfcount.keys import sized
from hfcount.keys.detection import channels, chosen
from hfcount.mapper import Config
from hfcount.parts.detection import leveled
from hfcount.spec import Record, Spec
from hfcount.tree.nodes import Block


class Levels(Record):
    """Features of a backbone, of these widths, as `count` levels."""

    widths: tuple[int, ...]
    count: int

    @classmethod
    def read(cls, c: Config, backbone: Spec) -> Self:
        """Those that backbone_config chooses."""
        widths = tuple(channels(chosen(c.part("backbone_config")), backbone))
        return cls(widths=widths, count=sized("n_l", c.int("num_feature_levels", maximum=64)))

    def tensors(self, d: int) -> Block:
        """Projections to `d` channels, and further levels made of the last; see `leveled`."""
        return leveled(self.widths, d, int(self.count))
