"""Renames the symbols of a model within another (d becomes d_v), so that a formula does not mix them."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar, cast

from hfcount.record import Record
from hfcount.spec.tree.dims import Dim

T = TypeVar("T")

_IRREGULAR = {"d_ff": "d_{}f", "n_p": "n_{}", "d_o": "d_o"}
_SYMBOL = r"(\|?)([A-Za-z])(?:_([A-Za-z]+))?(\|?)"


class Nested(Dim):
    """A size whose symbol already names its part, such as `d_v`, the width of a vision tower."""


def nested(value: T, letter: str, known: Collection[tuple[str, str]]) -> T:
    """A copy with `letter` added to every symbol, such as d_v for d, and d_vf for d_ff.

    Args:
        known: (symbol, source) of the sizes of the model around it; sizes of the part that are among them keep their
            symbols.
    """
    made: Any = value
    if isinstance(value, Dim):
        fixed = isinstance(value, Nested) or not value.symbol or (value.symbol, value.source) in known
        made = value if fixed else Nested.named(symbol_within(value.symbol, letter), value)
    elif isinstance(value, tuple):
        inner = [nested(item, letter, known) for item in value]
        made = value._make(inner) if hasattr(value, "_make") else tuple(inner)
    elif isinstance(value, Mapping):
        made = {key: nested(item, letter, known) for key, item in value.items()}
    elif isinstance(value, Record):
        made = value.replace(**{name: nested(getattr(value, name), letter, known) for name in value._fields})
    return cast(T, made)


def symbol_within(symbol: str, letter: str) -> str:
    """A symbol with the letter of a part added; a symbol that is a key's name stays as it is."""
    if symbol in _IRREGULAR:
        return _IRREGULAR[symbol].format(letter)
    match = re.fullmatch(_SYMBOL, symbol)
    return f"{match[1]}{match[2]}_{letter}{match[3] or ''}{match[4]}" if match else symbol


def symbols_of(value: object) -> set[tuple[str, str]]:
    """(symbol, source) of every size within a value."""
    return {(size.symbol, size.source) for size in _sizes(value)}


def _sizes(value: object) -> Iterator[Dim]:
    if isinstance(value, Dim):
        yield value
    elif isinstance(value, Record):
        for name in value._fields:
            yield from _sizes(getattr(value, name))
    elif isinstance(value, tuple | Mapping):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _sizes(item)
