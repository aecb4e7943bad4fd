"""Values with which transformers builds no model (built.json, recorded by tests/tools/built_values.py)."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.mapper import json_lines
from hfcount.text import is_numeral

_NEEDED = {
    "null": "given, and not null",
    "zero": "1 and more",
    "below": "1 and more",
    "whole": "a number with a decimal point",
    "empty": "one with entries",
    "alone": "a list of numbers",
    "text": "a number without quotes",
    "half": "a whole number",
    "listed": "one value, and no list",
    "paired": "one value, and no list",
}
"""What a key has to hold in place of a value, by its form."""


_LISTS = frozenset({"listed", "paired"})
_ROTARY, _LEGACY = "rope_parameters", frozenset({"rope_scaling", "rope_theta"})
"""The settings of rotary positions, and the keys that stood in their place in version 4."""


class BuiltValues(NamedTuple):
    """What a version makes of values of a type's keys.

    Args:
        refused: keys by form with which no model is built; of a nested config those that only the whole reads, by path.
        same: sizes, by form, that bear on no tensor.
        uneven: keys with numbers of heads, each with the key of the size that has to be a multiple of them.
        known: all keys of `refused`; a config may have many others.
        taken: of an older version, keys by shape of a value that the newest class refuses for its type (untyped.py),
            and that bears on no tensor.
        mixed: those that bear on tensors of some classes or by other keys.
    """

    refused: Mapping[str, frozenset[str]]
    same: Mapping[str, frozenset[str]]
    uneven: Mapping[str, str]
    known: frozenset[str]
    taken: Mapping[str, frozenset[str]] = {}
    mixed: Mapping[str, frozenset[str]] = {}

    def needed(self, key: str, value: Any, beside: Mapping[str, Any]) -> str | None:
        """What a key has to hold in place of a value with which no model is built; None if one is, or may be.

        Args:
            beside: the config that has the key, by which a list may have an entry for each layer or stage.
        """
        if key not in self.known:
            return None
        refused = [form for form in forms(value) if self.refuses(form, key)]
        if not _LISTS.isdisjoint(refused) and self._has_as_many(value, beside):
            refused = [form for form in refused if form not in _LISTS]
        return _NEEDED[refused[0]] if refused else None

    def _has_as_many(self, numbers: Any, beside: Mapping[str, Any]) -> bool:
        """Whether there are as many layers as numbers in a list, or as many in another list that a key may hold."""
        many = len(numbers) if all(type(number) is int for number in numbers) else -1
        return any(
            (value == many and type(value) is int and "layer" in key)
            or (isinstance(value, list) and value is not numbers and len(value) == many > 1 and self._takes_list(key))
            for key, value in beside.items()
        )

    def _takes_list(self, key: str) -> bool:
        return not any(self.refuses(form, key) for form in _LISTS)

    def bears_on_nothing(self, key: str, value: Any) -> bool:
        """Whether a model is built with a size below 1, and has the tensors that it has with another."""
        return any(self.takes(form, key) for form in forms(value))

    def takes(self, form: str, key: str) -> bool:
        """Whether a model is built with a form of a key's value, and has the tensors that it has with another."""
        return key in self.same.get(form, ())

    def refuses(self, form: str, key: str) -> bool:
        """Whether no model is built with a form of a key's value."""
        return key in self.refused.get(form, ())

    def needed_absent(self, given: Collection[str]) -> Iterator[str]:
        """The keys that are absent, and by whose defaults no model is built.

        Args:
            given: the keys of the config, by the names that its class has for them.
        """
        for key in self.refused.get("absent", ()):
            if key not in given and not (key == _ROTARY and not _LEGACY.isdisjoint(given)):
                yield key

    def undivided(self, values: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
        """Numbers of heads that do not divide their size: their key, and the key of the size with what it is.

        A list of them has a number for each stage, of which each may be twice as wide as the one before.
        """
        for key, other in self.uneven.items():
            heads, size = (values.get(name, usual.get(name)) for name in (key, other))
            counts = [count for count in (heads if isinstance(heads, list) else [heads]) if type(count) is int]
            if type(size) is not int or key not in values:
                continue
            if any(count > 0 and (size << place) % count for place, count in enumerate(counts)):
                yield key, other, size


def forms(value: Any) -> Iterator[str]:
    """The forms of a value, as they are recorded."""
    if value is None:
        yield "null"
    elif isinstance(value, list | dict) and not value:
        yield "empty"
    elif isinstance(value, list):
        yield from _of_list(value)
    elif isinstance(value, str):
        yield from ["text"] if is_numeral(value) else []
    elif type(value) in (int, float):
        yield "alone"
        if type(value) is int:
            yield "whole"
            yield from ["below"] if value < 0 else ["zero"] if value == 0 else []
        elif value % 1:
            yield "half"


def _of_list(items: list[Any]) -> Iterator[str]:
    if (len(items) == 1 and type(items[0]) is int) or all(isinstance(item, str) for item in items):
        yield "listed"  # where one word is needed, no number of them will do
    if len(items) == 2 and all(type(item) is int for item in items):
        yield "paired"
    if all(isinstance(item, str) and is_numeral(item) for item in items):
        yield "text"
    if all(type(item) is int and item < 0 for item in items):
        yield "below"


@lru_cache(64)
def built_values(kind: str, version: str) -> BuiltValues | None:
    """What a version makes of values of a type's keys; None where that is not recorded."""
    row = json_lines.of_kind(_file(), kind) or {}
    if version not in _versions() or not (row.get(_versions()[0]) or row.get(version)):
        return None
    newest, own = row.get(_versions()[0], {}), row.get(version, {})
    if own is None:
        return None
    refused, same = (
        {form: frozenset(keys.split()) for form, keys in {**newest.get(name, {}), **own.get(name, {})}.items()}
        for name in ("refused", "same")
    )
    taken, mixed = (_by_shape(own.get(name, {})) for name in ("taken", "mixed"))
    uneven = {key: size for key, size in {**newest.get("uneven", {}), **own.get("uneven", {})}.items() if size}
    return BuiltValues(refused, same, uneven, frozenset().union(*refused.values()), taken, mixed)


def taken_by_older(kind: str, key: str, shape: str) -> bool:
    """Whether an older version builds the same model with a value of a shape that the newest refuses."""
    older = (built_values(kind, version) for version in _versions()[1:])
    return any(known and key in known.taken.get(shape, ()) and key not in known.mixed.get(shape, ()) for known in older)


def _by_shape(rows: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    """Keys by shape, of rows with the keys that are alike in several."""
    found = dict[str, frozenset[str]]()
    for shapes, keys in rows.items():
        for shape in shapes.split():
            found[shape] = found.get(shape, frozenset()).union(keys.split())
    return found


@cache
def _versions() -> tuple[str, ...]:
    """The versions that are recorded, the newest first, from which the others are recorded by what differs."""
    return tuple(json_lines.of_all(_file())["versions"].split())


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "built.json").read_bytes()
