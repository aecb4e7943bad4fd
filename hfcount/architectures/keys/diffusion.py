"""Keys of diffusers' classes, whose config names them in `_class_name`."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from hfcount.architectures.keys.sizes import dim
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.reference import declared
from hfcount.spec import Spec
from hfcount.text import shown

Own = TypeVar("Own")
Kind = TypeVar("Kind")

STEPS = "it is run once a step over all places, and keeps nothing between steps"
"""Reason given when there is no cache because the model is no sequence model."""


def diffusing(c: Config, own: Own, hidden: int) -> Spec[Own]:
    """The Spec of a class of diffusers: it has no head and no vocabulary, and keeps no keys and values."""
    spec: Spec = Spec(
        family=c.family, architecture=c.family, dtype=c.dtype(), layers=(), causal=False, hidden=hidden, uncounted=STEPS
    )
    return spec.having(own)


def beside(c: Config, own: Own, tower: Spec) -> Spec[Own]:
    """The Spec of a model around a vision `tower` that a pipeline runs beside the one that draws."""
    whole = diffusing(c, own, tower.hidden)
    return whole.replace(parts={"vision": tower}, uncounted="it is run once over an image, and keeps nothing")


def held(c: Config, key: str) -> object:
    """What a key holds, of any kind: as it is written, or by the class's default where it is absent."""
    return c.value(key) if c.has(key) else declared(c.kind).keys.get(key)


def stage_widths(c: Config, key: str = "block_out_channels", letter: str = "C") -> tuple[int, ...]:
    """The widths of stages, with a symbol each.

    Raises:
        ConfigError: there are none, or one is below 1.
    """
    widths = c.ints(key, minimum=1)
    if not widths:
        raise c.error("list-length", f"{key} names no stage.", key, "Name the width of each.")
    return tuple(dim(f"{letter}{number}", width) for number, width in enumerate(widths, 1))


_DOWN = """
    DownBlock2D ResnetDownsampleBlock2D AttnDownBlock2D CrossAttnDownBlock2D SimpleCrossAttnDownBlock2D SkipDownBlock2D
    AttnSkipDownBlock2D DownEncoderBlock2D AttnDownEncoderBlock2D KDownBlock2D KCrossAttnDownBlock2D
    """.split()
_UP = """
    UpBlock2D ResnetUpsampleBlock2D CrossAttnUpBlock2D SimpleCrossAttnUpBlock2D AttnUpBlock2D SkipUpBlock2D
    AttnSkipUpBlock2D UpDecoderBlock2D AttnUpDecoderBlock2D KUpBlock2D KCrossAttnUpBlock2D
    """.split()
"""The kinds of stages that diffusers 0.42.1 has (unet_2d_blocks.py)."""


def stage_kinds(c: Config, key: str, known: Mapping[str, Kind], count: int) -> tuple[Kind, ...]:
    """Of each stage what `known` says of its kind; `count` stages have a width.

    Raises:
        ConfigError: diffusers has no such kind, or there are more stages than widths.
        UnknownArchitecture: a stage is of a kind that is not described in this class.
    """
    kinds, other = list[Kind](), _DOWN if key.startswith("down") else _UP
    if known.keys().isdisjoint(other):  # those of video are made elsewhere, which takes no other ones
        other = []
    for name in c.strs(key):
        plain = name.removeprefix("UNetRes")  # an earlier form of their names
        if plain in known:
            kinds.append(known[plain])
        elif plain in other:
            raise UnknownArchitecture(f"{c.where}: stages of kind {plain}, which {key} names, are not described.")
        else:
            said = f"{key} names {shown(name)}, and must name some of {', '.join(known)}."
            raise c.error("unknown-kind", said, key, observed=name)
    if len(kinds) > count:
        raise c.unequal(key, len(kinds), "the number of widths", count)
    return tuple(kinds)


def check_groups(
    c: Config, widths: Iterable[int], key: str = "norm_num_groups", whole: str = "block_out_channels"
) -> int:
    """The number of groups that are normalised together, by which all `widths` have to be divisible.

    Raises:
        ConfigError: one is not.
    """
    groups = c.int(key)
    for width in widths:
        if not groups or width % groups:
            said = f"{whole} gives {int(width):,}, which is not a multiple of {key}, {int(groups):,}."
            raise c.error(
                "not-divisible", said, whole, "Correct one of them.", expected=int(groups), observed=int(width)
            )
    return groups


def check_parts(c: Config, widths: Iterable[int], parts: int, what: str, key: str = "block_out_channels") -> None:
    """Refuses widths that a fixed number of `parts` does not divide; `what` says in a message what these are.

    Raises:
        ConfigError: one is not a multiple of them.
    """
    for width in widths:
        if width % parts:
            said = f"{key} gives {int(width):,}, which is not a multiple of the {int(parts):,} {what}."
            raise c.error("not-divisible", said, key, "Correct it.", expected=int(parts), observed=int(width))


def check_places(c: Config, width: int) -> None:
    """Refuses what a table of sines over two axes cannot be made of: a `width` that has no quarters, or no patch.

    Raises:
        ConfigError: the width is no multiple of 4, or an image is smaller than a patch.
    """
    if width % 4:
        said = f"num_attention_heads · attention_head_dim is {int(width):,}, which a table of places needs in quarters."
        raise c.error("not-divisible", said, "attention_head_dim", "Correct one of them.", observed=int(width))
    image, patch = c.int("sample_size"), c.int("patch_size")
    if image < patch:
        said = f"sample_size is {int(image):,}, and patch_size {int(patch):,}: there is no whole patch."
        raise c.error("out-of-range", said, "sample_size", expected=int(patch), observed=int(image))
