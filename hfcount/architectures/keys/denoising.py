"""Keys of diffusers' classes: what null means, and the sides of patches."""

from collections.abc import Sequence

from hfcount.mapper import Config
from hfcount.spec.tree.dims import Dim
from hfcount.text import shown


def nullable(c: Config, key: str, symbol: str = "") -> int | None:
    """A size, or None where the key is null: as it is written, or by the class's default where it is absent."""
    if c.is_null(key):
        return None
    value = c.int(key, minimum=0)
    return Dim.named(symbol, value) if symbol else value


def sized(c: Config, key: str, symbol: str) -> int:
    """A size that only some classes of a family have, with its symbol."""
    return Dim.named(symbol, c.int(key))


def or_else(c: Config, key: str, other: int, symbol: str = "") -> int:
    """A size, or `other` where the key is null or 0."""
    return nullable(c, key, symbol) or other


def patch_sides(c: Config, key: str, count: int) -> tuple[int, ...]:
    """The sides of a patch, of which a model that runs has as many as its grid has dimensions, each above 0."""
    found = c.ints(key, minimum=0)
    if len(found) != count or not all(found):
        said = f"{key} has {len(found):,} entries, and needs {count} above 0, a side each of a patch."
        c.cannot_run("list-length", said, key, "Correct it.", expected=count, observed=len(found))
    return tuple(Dim.named(f"p{place}", side) for place, side in enumerate(found, 1))


def rotary_pairs(c: Config, head_dim: int, key: str = "attention_head_dim") -> None:
    """Refuses heads with an odd width, which are not turned in pairs."""
    if head_dim % 2:
        said = f"{key} is {head_dim:,}, and must be even: rotary positions turn pairs."
        raise c.error("not-divisible", said, key, "Correct it.", observed=int(head_dim))


def rotary_axes(c: Config, key: str, count: int) -> None:
    """Refuses fewer axes of rotary positions than there are, and axes with an odd width."""
    axes = c.ints(key)
    if len(axes) < count:
        said = f"{key} has {len(axes):,} entries, and needs {count}."
        raise c.error("list-length", said, key, "Correct it.", expected=count, observed=len(axes))
    for axis in axes[:count]:
        rotary_pairs(c, axis, key)


def sinusoidal(c: Config, d: int, multiple: int) -> None:
    """Refuses a width that sines and cosines of each dimension cannot share."""
    if d % multiple:
        said = f"num_attention_heads · attention_head_dim is {int(d):,}, and must be a multiple of {multiple}."
        raise c.error("not-divisible", said, "attention_head_dim", "Correct it.", observed=int(d))


def text_of(c: Config, key: str) -> str | None:
    """A word, or None where the key is null."""
    return None if c.is_null(key) else c.str(key)


def word(c: Config, key: str, known: tuple[str | None, ...]) -> str | None:
    """One of these words, or null, if that is among them."""
    if c.is_null(key) and None in known:
        return None
    return c.choice(key, [one for one in known if one is not None])


_PLAIN = ("gelu", "gelu-approximate", "geglu-approximate", "linear-silu")
_GATED = ("geglu", "swiglu")


def gated_activation(c: Config) -> bool:
    """Whether activation_fn names a network with a gate; HF103 if it names none that FeedForward has."""
    return c.choice("activation_fn", (*_PLAIN, *_GATED)) in _GATED


def activation(c: Config, key: str, absent: bool = False) -> None:
    """Refuses activations that diffusers does not have; the key may be null where one may be `absent`."""
    if absent and c.is_null(key):
        return
    word = c.str(key)
    if word.lower() not in _ACTIVATIONS:
        said = f"{key} is {shown(word)}, and must be {', '.join(_ACTIVATIONS)}."
        raise c.error("unknown-kind", said, key, "Correct it.", observed=word)


_ACTIVATIONS = ("swish", "silu", "mish", "gelu", "relu")


def dropout(c: Config, key: str = "dropout") -> None:
    """Refuses shares of what is dropped below 0 or above 1."""
    share = c.number(key, zero=True)
    if share > 1:
        said = f"{key} is {shown(share)}, and must be 0 to 1."
        raise c.error("out-of-range", said, key, "Correct it.", observed=share)


def words(c: Config, key: str, known: Sequence[str]) -> list[str]:
    """A list of words, each of which is one of those known."""
    found = c.strs(key)
    for one in found:
        if one not in known:
            said = f"{key} names {shown(one)}, and must name {' or '.join(known)}."
            raise c.error("unknown-kind", said, key, "Correct it.", observed=one)
    return found
