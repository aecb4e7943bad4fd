"""Values with which transformers builds no model (built.json, recorded by tests/tools/built_values.py)."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.mapper import json_lines

_NEEDED = {
    "null": "given, and not null",
    "zero": "1 and more",
    "below": "1 and more",
    "whole": "a number with a decimal point",
    "empty": "one with entries",
    "alone": "a list of numbers",
}
"""What a key has to hold in place of a value, by its form."""


class BuiltValues(NamedTuple):
    """What a version makes of values of a type's keys.

    Args:
        refused: keys by form with which no model is built.
        same: sizes, by form, that bear on no tensor.
        uneven: keys with numbers of heads, each with the key of the size that has to be a multiple of them.
        asked: whether an older version was asked for all that the newest refuses.
    """

    refused: Mapping[str, frozenset[str]]
    same: Mapping[str, frozenset[str]]
    uneven: Mapping[str, str]
    asked: bool = False

    def needed(self, key: str, value: Any) -> str | None:
        """What a key has to hold in place of a value with which no model is built; None if one is, or may be."""
        return next((_NEEDED[form] for form in forms(value) if self.refuses(form, key)), None)

    def bears_on_nothing(self, key: str, value: Any) -> bool:
        """Whether a model is built with a size below 1, and has the tensors that it has with another."""
        return any(self.takes(form, key) for form in forms(value))

    def takes(self, form: str, key: str) -> bool:
        """Whether a model is built with a form of a key's value, and has the tensors that it has with another."""
        return key in self.same.get(form, ())

    def refuses(self, form: str, key: str) -> bool:
        """Whether no model is built with a form of a key's value."""
        return key in self.refused.get(form, ())

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
    elif type(value) in (int, float):
        yield "alone"
        if type(value) is int:
            yield "whole"
            yield from ["below"] if value < 0 else ["zero"] if value == 0 else []


@lru_cache(64)
def built_values(kind: str, version: str) -> BuiltValues | None:
    """What a version makes of values of a type's keys; None where that is not recorded."""
    row = (json_lines.of_kind(_file(), kind) or {}).get(version)
    if row is None:
        return None
    refused, same = (
        {form: frozenset(keys.split()) for form, keys in row.get(name, {}).items()} for name in ("refused", "same")
    )
    return BuiltValues(refused, same, row.get("uneven", {}), row.get("asked", False))


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "built.json").read_bytes()
