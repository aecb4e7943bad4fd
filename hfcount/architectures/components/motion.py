"""AnimateDiff's motion modules: transformers over the frames of a video, for a U-Net of images (arXiv:2307.04725)."""

from collections.abc import Sequence

from hfcount.architectures.components.unet_keys import check_heads
from hfcount.architectures.components.unet_stages import around, text_layer
from hfcount.architectures.layers.diffusion.layers import numbered
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block, buffer


class Motion(Record):
    """The modules of one stage.

    Args:
        frames: how many frames a place is known of.
        depths: the layers of each, or one number for all.
    """

    width: int
    heads: int
    frames: int
    depths: tuple[int, ...]

    def modules(self, count: int) -> Node:
        """So many of them, numbered from 0."""
        if len(self.depths) == 1:
            return Repeat(Indices.below(count), self._module(self.depths[0]))
        return numbered([self._module(depth) for depth in self.depths[: int(count)]])

    def _module(self, depth: int) -> Block:
        inner = self.heads * (self.width // self.heads)
        layer = text_layer(inner, None)
        places = block("embedding", pe=buffer(1, self.frames, inner))
        return around(self.width, inner, Repeat(Indices.below(depth), Block({"pos_embed": places, **layer.children})))


def check_motion(
    c: Config, widths: Sequence[int], heads: Sequence[int], key: str = "motion_num_attention_heads"
) -> None:
    """Refuses heads that leave an odd width, which sinusoidal positions cannot have.

    Raises:
        ConfigError: they do, or there are more of them than a stage has channels.
    """
    for width, head_count in zip(widths, heads, strict=False):
        check_heads(c, key, head_count, width)
        inner = head_count * (width // head_count)
        if inner % 2:
            text = f"{key} leaves {int(inner):,} of a stage's {int(width):,} channels, but must leave an even number."
            raise c.error("not-divisible", text, key, "Correct it.", observed=int(head_count))
