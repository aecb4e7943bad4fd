"""Detectors like DETR: backbone features and learned queries (arXiv:2005.12872)."""

from typing import Self

from hfcount.architectures.keys import dim, named
from hfcount.architectures.keys.detection import channels, chosen, detecting
from hfcount.architectures.layers.detection import leveled
from hfcount.mapper import Config
from hfcount.mapper.sizes import Sizes, derived, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block


class Levels(Record):
    """Features of a backbone, of these widths, as `count` levels."""

    widths: tuple[int, ...]
    count: int

    @classmethod
    def read(cls, c: Config, backbone: Spec) -> Self:
        """Those that backbone_config chooses."""
        widths = tuple(channels(chosen(c.part("backbone_config")), backbone))
        return cls(widths=widths, count=dim("n_l", c.int("num_feature_levels", maximum=64)))

    def tensors(self, d: int) -> Block:
        """Projections to `d` channels, and further levels made of the last; see `leveled`."""
        return leveled(self.widths, d, int(self.count))


def learned_places(c: Config) -> bool:
    """Whether the places in an image are learned, and not computed."""
    return c.str("position_embedding_type", default="sine") == "learned"


class LearnedQueries(Sizes):
    """DETR's queries, and the widths of the features of the stages that the backbone gives."""

    widths: tuple[int, ...]
    num_queries: int = size("n_q")
    learned: bool = derived(learned_places)


def learned_queries(c: Config, backbone: Spec) -> Spec[LearnedQueries]:
    """DETR and those with its keys: learned queries, and features of the stages that the backbone names."""
    heads = named(ForObjectDetection="object_detection", Model="base", ForSegmentation="panoptic_segmentation")
    widths = channels(chosen(c.part("backbone_config")) if c.given("backbone_config") else [1, 2, 3, 4], backbone)
    sizes = LearnedQueries.read(c, widths=tuple(widths))
    return detecting(c, heads, backbone, sizes)
