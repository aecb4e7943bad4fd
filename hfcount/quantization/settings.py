"""Reads and validates values of a quantisation config."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hfcount.quantization.layout import Unmodelled
from hfcount.text import printable

Settings = Mapping[str, Any]

_MOST = 1 << 20  # no group or block is larger


class Contradiction(NamedTuple):
    """A number that a name beside it rules out.

    Args:
        key: where it is within the settings.
        observed, wanted: the number, and the one that the name means.
        name: the key and the value that mean it.
    """

    key: str
    observed: int
    wanted: int
    name: str


def number(settings: Settings, *keys: str, default: int | None = None) -> int | None:
    """The whole number under the first of these keys that is there; the default if none is, or it is null.

    Raises:
        Unmodelled: it is not a number, or an impossible one.
    """
    for key in keys:
        value = settings.get(key)
        if value is not None:
            if type(value) is not int or not -1 <= value <= _MOST:
                raise Unmodelled(f"{key} {printable(str(value), 40)}")
            return value
    return default


def bits(settings: Settings, *keys: str, default: int | None = None, among: Sequence[int] = range(1, 9)) -> int:
    """The bits of a weight, which must be `among` these; raises as `number` does."""
    value = number(settings, *keys, default=default)
    if value is None or value not in among:
        raise Unmodelled(f"{keys[0]} {value}")
    return value


def group(settings: Settings, *keys: str, default: int | None = None) -> int | None:
    """Elements of a group; None for one group a row. Raises as `number` does."""
    value = number(settings, *keys, default=default)
    if value == 0:
        raise Unmodelled(f"{keys[0]} 0")
    return None if value is None or value < 0 else value


def pair(settings: Settings, key: str) -> tuple[int, int] | None:
    """Two sizes, as of a block; None if there are none. Raises as `number` does."""
    value = settings.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or any(type(v) is not int or not 0 < v <= _MOST for v in value):
        raise Unmodelled(f"{key} {printable(str(value), 40)}")
    return value[0], value[1]


def texts(settings: Settings, *keys: str) -> tuple[str, ...] | None:
    """The list of names under the first of these keys that has one; None if none has."""
    for key in keys:
        value = settings.get(key)
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list):
            return tuple(name for name in value if isinstance(name, str))
    return None


def table(settings: Settings, key: str) -> Settings:
    """The object under a key; empty if there is none."""
    value = settings.get(key)
    return value if isinstance(value, dict) else {}


def word(settings: Settings, *keys: str, default: str = "") -> str:
    """The text under the first of these keys that has one, in lower case."""
    for key in keys:
        value = settings.get(key)
        if isinstance(value, str) and value:
            return value.lower()
    return default


def against(settings: Settings, key: str, wanted: int, name: str, place: str = "") -> list[Contradiction]:
    """The contradiction, if there is one, of the number under a key and a name that means another.

    Args:
        place: where the settings are, with a dot at its end.
    """
    number = settings.get(key)
    return [Contradiction(place + key, number, wanted, name)] if type(number) is int and number != wanted else []
