"""Models of diffusers: functions that read their configs; the modules of this folder build their tensors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from hfcount.architectures.layers.sizes import dim
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import declared
from hfcount.spec import Spec
from hfcount.spec.tree.dims import Dim
from hfcount.text import shown

Own = TypeVar("Own")


Kind = TypeVar("Kind")


STEPS = "it is run once a step over all places, and keeps nothing between steps"
"""Reason given when there is no cache because the model is no sequence model."""


def diffusing(c: Config, sizes: Own, hidden: int) -> Spec[Own]:
    """The Spec of a class of diffusers: it has no head and no vocabulary, and keeps no keys and values."""
    spec: Spec = Spec(
        family=c.family, architecture=c.family, dtype=c.dtype(), layers=(), causal=False, hidden=hidden, uncounted=STEPS
    )
    return spec.having(sizes)


def beside(c: Config, sizes: Own, tower: Spec) -> Spec[Own]:
    """The Spec of a model around a vision `tower`, which a pipeline runs next to the denoiser."""
    spec = diffusing(c, sizes, tower.hidden)
    return spec.replace(parts={"vision": tower}, uncounted="it is run once over an image, and keeps nothing")


def held(c: Config, key: str) -> object:
    """The value of a key, of any type; the class's default if it is absent."""
    return c.value(key) if c.has(key) else declared(c.kind).keys.get(key)


def stage_widths(c: Config, key: str = "block_out_channels", letter: str = "C") -> tuple[int, ...]:
    """The widths of the stages, each with a symbol.

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
    """The value of `known` for the kind of each stage, at most `count`, the number of widths.

    Raises:
        ConfigError: diffusers has no such kind, or there are more stages than widths.
        UnknownArchitecture: a stage is of a kind that is not described in this class.
    """
    kinds, other = list[Kind](), _DOWN if key.startswith("down") else _UP
    if known.keys().isdisjoint(other):  # stages of video models, which have no others
        other = []
    for name in c.strs(key):
        plain = name.removeprefix("UNetRes")  # an earlier form of their names
        if plain in known:
            kinds.append(known[plain])
        elif plain in other:
            raise UnknownArchitecture(f"{c.where}: stages of kind {plain}, which {key} names, are not described.")
        else:
            text = f"{key} names {shown(name)}, but must name some of {', '.join(known)}."
            raise c.error("unknown-kind", text, key, observed=name)
    if len(kinds) > count:
        raise c.unequal(key, len(kinds), "the number of widths", count)
    return tuple(kinds)


def check_groups(
    c: Config, widths: Iterable[int], key: str = "norm_num_groups", whole: str = "block_out_channels"
) -> int:
    """The number of normalisation groups, which must divide all `widths`.

    Raises:
        ConfigError: one is not.
    """
    groups = c.int(key)
    for width in widths:
        if not groups or width % groups:
            text = f"{whole} gives {int(width):,}, which is not a multiple of {key}, {int(groups):,}."
            raise c.error(
                "not-divisible", text, whole, "Correct one of them.", expected=int(groups), observed=int(width)
            )
    return groups


def check_parts(c: Config, widths: Iterable[int], parts: int, what: str, key: str = "block_out_channels") -> None:
    """Refuses widths that are not multiples of `parts`; `what` is the name of the parts in the message.

    Raises:
        ConfigError: one is not a multiple of them.
    """
    for width in widths:
        if width % parts:
            text = f"{key} gives {int(width):,}, which is not a multiple of the {int(parts):,} {what}."
            raise c.error("not-divisible", text, key, "Correct it.", expected=int(parts), observed=int(width))


def check_places(c: Config, width: int) -> None:
    """Refuses sizes that a table of sines over two axes cannot have.

    Raises:
        ConfigError: the width is no multiple of 4, or an image is smaller than a patch.
    """
    if width % 4:
        text = f"num_attention_heads · attention_head_dim is {int(width):,}, which a table of places needs in quarters."
        raise c.error("not-divisible", text, "attention_head_dim", "Correct one of them.", observed=int(width))
    image, patch = c.int("sample_size"), c.int("patch_size")
    if image < patch:
        text = f"sample_size is {int(image):,}, and patch_size {int(patch):,}: there is no whole patch."
        raise c.error("out-of-range", text, "sample_size", expected=int(patch), observed=int(image))


def nullable(c: Config, key: str, symbol: str = "") -> int | None:
    """A size, by default the class's; None if the key is null."""
    if c.is_null(key):
        return None
    value = c.int(key, minimum=0)
    return Dim.named(symbol, value) if symbol else value


def sized(c: Config, key: str, symbol: str) -> int:
    """A size with a symbol, for keys that only some classes of a family have."""
    return Dim.named(symbol, c.int(key))


def or_else(c: Config, key: str, other: int, symbol: str = "") -> int:
    """A size, or `other` if the key is null or 0."""
    return nullable(c, key, symbol) or other


def patch_sides(c: Config, key: str, count: int) -> tuple[int, ...]:
    """The sides of a patch, one per dimension of the grid; other lists cannot run."""
    sides = c.ints(key, minimum=0)
    if len(sides) != count or not all(sides):
        text = f"{key} has {len(sides):,} entries, and needs {count} above 0, a side each of a patch."
        c.cannot_run("list-length", text, key, "Correct it.", expected=count, observed=len(sides))
    return tuple(Dim.named(f"p{place}", side) for place, side in enumerate(sides, 1))


def rotary_pairs(c: Config, head_dim: int, key: str = "attention_head_dim") -> None:
    """Refuses heads of odd width: rotary positions turn pairs."""
    if head_dim % 2:
        text = f"{key} is {head_dim:,}, but must be even: rotary positions turn pairs."
        raise c.error("not-divisible", text, key, "Correct it.", observed=int(head_dim))


def rotary_axes(c: Config, key: str, count: int) -> None:
    """Refuses fewer than `count` axes of rotary positions, and axes of odd width."""
    axes = c.ints(key)
    if len(axes) < count:
        text = f"{key} has {len(axes):,} entries, and needs {count}."
        raise c.error("list-length", text, key, "Correct it.", expected=count, observed=len(axes))
    for axis in axes[:count]:
        rotary_pairs(c, axis, key)


def sinusoidal(c: Config, d: int, multiple: int) -> None:
    """Refuses a width that is not a multiple of the sines and cosines per position."""
    if d % multiple:
        text = f"num_attention_heads · attention_head_dim is {int(d):,}, but must be a multiple of {multiple}."
        raise c.error("not-divisible", text, "attention_head_dim", "Correct it.", observed=int(d))


def text_of(c: Config, key: str) -> str | None:
    """A word, or None if the key is null."""
    return None if c.is_null(key) else c.str(key)


def word(c: Config, key: str, known: tuple[str | None, ...]) -> str | None:
    """One of the `known` words; None in `known` allows null."""
    if c.is_null(key) and None in known:
        return None
    return c.choice(key, [choice for choice in known if choice is not None])


_PLAIN = ("gelu", "gelu-approximate", "geglu-approximate", "linear-silu")


_GATED = ("geglu", "swiglu")


def gated_activation(c: Config) -> bool:
    """Whether activation_fn is gated; HF103 if FeedForward does not have it."""
    return c.choice("activation_fn", (*_PLAIN, *_GATED)) in _GATED


def activation(c: Config, key: str, absent: bool = False) -> None:
    """Refuses activations that diffusers does not have; with `absent` the key may be null."""
    if absent and c.is_null(key):
        return
    word = c.str(key)
    if word.lower() not in _ACTIVATIONS:
        text = f"{key} is {shown(word)}, but must be {', '.join(_ACTIVATIONS)}."
        raise c.error("unknown-kind", text, key, "Correct it.", observed=word)


_ACTIVATIONS = ("swish", "silu", "mish", "gelu", "relu")


def dropout(c: Config, key: str = "dropout") -> None:
    """Refuses dropout below 0 or above 1."""
    share = c.number(key, zero=True)
    if share > 1:
        text = f"{key} is {shown(share)}, but must be 0 to 1."
        raise c.error("out-of-range", text, key, "Correct it.", observed=share)


def words(c: Config, key: str, known: Sequence[str]) -> list[str]:
    """A list of `known` words."""
    values = c.strs(key)
    for value in values:
        if value not in known:
            text = f"{key} names {shown(value)}, but must name {' or '.join(known)}."
            raise c.error("unknown-kind", text, key, "Correct it.", observed=value)
    return values
