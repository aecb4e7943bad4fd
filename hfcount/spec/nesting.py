"""Sizes of a part among those of the model around it: symbols that say which part they are of."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from hfcount.tree.dims import Dim, atoms, counts_layers
from hfcount.tree.indices import Indices

T = TypeVar("T")

_IRREGULAR = {"d_ff": "d_{}f", "n_p": "n_{}", "d_o": "d_o"}


class Nested(Dim):
    """A size whose symbol already says which part it is of, such as `d_v`, the width of a vision tower."""


def nested(value: T, letter: str, known: Collection[tuple[str, str]]) -> T:
    """The same with `letter` in every symbol, such as N_v for N, and d_vf for d_ff.

    Args:
        known: symbols of the model around, each with the key it was read from. A size of the part that was read from
            the same key is the same size and keeps its symbol; a number of layers always counts the part's own.
    """
    made: Any = value
    if isinstance(value, Dim):
        made = value if isinstance(value, Nested) else _renamed(value, letter, known)
    elif isinstance(value, Indices):
        made = replace(value, count=nested(value.count, letter, known))
    elif isinstance(value, tuple):
        made = tuple(nested(one, letter, known) for one in value)
    elif isinstance(value, Mapping):
        made = {key: nested(one, letter, known) for key, one in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        made = replace(value, **{name: nested(one, letter, known) for name, one in own.items()})
    return cast(T, made)


def _renamed(size: Dim, letter: str, known: Collection[tuple[str, str]]) -> Dim:
    own = atoms(size.terms)
    if all((atom.symbol, size.source) in known and not counts_layers(atom) for atom in own):
        return size
    names = {atom: atom._replace(symbol=symbol_within(atom.symbol, letter)) for atom in own}
    terms = {tuple(names[atom] for atom in monomial): coefficient for monomial, coefficient in size.terms.items()}
    result = Nested.of(int(size), terms)
    result.source = size.source
    return result


def symbol_within(symbol: str, letter: str) -> str:
    """What a symbol is called within the part of that letter."""
    if symbol in _IRREGULAR:
        return _IRREGULAR[symbol].format(letter)
    bars = symbol.strip("|")
    base, _, index = bars.partition("_")
    name = f"{base[0]}_{letter}{base[1:]}{index}"
    return f"|{name}|" if bars != symbol else name


def sizes(value: object) -> Iterator[Dim]:
    """Every size within a value that has a symbol."""
    if isinstance(value, Dim):
        yield value
    elif isinstance(value, Indices):
        yield from sizes(value.count)
    elif is_dataclass(value):
        for field in fields(value):
            yield from sizes(getattr(value, field.name))
    elif isinstance(value, tuple | Mapping):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from sizes(one)


def keyed(value: object) -> set[tuple[str, str]]:
    """The symbols within a value, each with the key it was read from."""
    known = (size for size in sizes(value) if size.source)
    return {(atom.symbol, size.source) for size in known for monomial in size.terms for atom in monomial}
