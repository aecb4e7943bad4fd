"""The meaning of timm model names, and the arguments of a config beside them."""

from typing import NamedTuple

from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.text import printable

DROPPED = frozenset({"drop_rate", "proj_drop_rate", "drop_path_rate"})
"""Dropout arguments, which affect no shape."""

COLOURS = 3


class KnownSwin(NamedTuple):
    """A Swin of timm, whose name says how it is built (arXiv:2103.14030).

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


def arguments(c: Config, name: str, builds: frozenset[str], shapeless: frozenset[str]) -> Config:
    """The model_args of a config; `builds` and `shapeless` are those that are understood.

    Raises:
        UnknownArchitecture: there are others.
        ConfigError: num_classes is among them.
    """
    for key in c.object("model_args") or {}:
        if key == "num_classes":
            raise c.error(
                "contradiction", "model_args must not give num_classes, which the class gives itself.", "model_args"
            )
        if key not in builds and key not in shapeless:
            text = f"{name} with {printable(key, 40)} in model_args is not described, but with"
            raise UnknownArchitecture(f"{c.where}: {text} {', '.join(sorted(builds))}.")
    args = c.part("model_args")
    args.ignored = shapeless
    return args


def switch(args: Config, name: str, default: bool) -> bool:
    """A switch; timm drops an argument that is null."""
    return args.bool(name) if args.given(name) else default
