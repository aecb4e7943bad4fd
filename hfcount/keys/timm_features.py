"""Swins of timm, whose names say how they are built (arXiv:2103.14030)."""

from typing import NamedTuple


class KnownSwin(NamedTuple):
    """A Swin.

    Args:
        width: of its first stage.
        third: the number of layers in its third stage; the others have two.
        heads: of its first stage.
        window: the side of its windows.
    """

    width: int
    third: int
    heads: int
    window: int


SWINS = {
    "swin_tiny_patch4_window7_224": KnownSwin(96, 6, 3, 7),
    "swin_small_patch4_window7_224": KnownSwin(96, 18, 3, 7),
    "swin_base_patch4_window7_224": KnownSwin(128, 18, 4, 7),
    "swin_base_patch4_window12_384": KnownSwin(128, 18, 4, 12),
    "swin_large_patch4_window7_224": KnownSwin(192, 18, 6, 7),
    "swin_large_patch4_window12_384": KnownSwin(192, 18, 6, 12),
}
