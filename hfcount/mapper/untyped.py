"""Values of other types than a key has, which version 4 does not look at: the newest classes refuse them.

Of an older version it is recorded by their shape whether a model is built all the same (built.json).
"""

from collections.abc import Iterator
from typing import Any

from hfcount.mapper.value_types import alternatives
from hfcount.text import is_numeral

VALUE: Any = object()
"""In place of a value: what the config has."""


def untyped(value: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Values of other types than a key has, each with those of its type with which the same model has to be built."""
    if value is None:
        yield from ((other, (VALUE,)) for other in (0, 1, True, 1.0, "1", "auto", [1]))
    elif type(value) is bool:
        # Which of them is true in Python, as version 4 takes flags.
        yield from ((other, (bool(other),)) for other in (None, 0, 1, "true", "false"))
    else:
        yield from ((other, (VALUE,)) for other in (None, *_others(value)))


def _others(value: Any) -> Iterator[Any]:
    if type(value) is int:
        yield from (float(value), value + 0.5)
    elif type(value) is float:
        yield from (0, 1, *((-0.5, 1.5) if 0 <= value <= 1 else ()))
    if type(value) in (int, float):
        yield from (str(value), [value], [value, value])
    elif isinstance(value, str):
        yield from (0, 1, [value], [value, value])
    elif isinstance(value, list) and value:
        items = [str(item) for item in value]
        yield from (value[0], items, ",".join(items))
    elif isinstance(value, dict):
        yield [value]


_SAMPLES: dict[str, Any] = {
    "int": 1,
    "float": 0.5,
    "bool": True,
    "str": "x",
    "list": [1],
    "sequence": [1],
    "object": {"a": 1},
    "null": None,
}


def tried(types: str) -> frozenset[str]:
    """The shapes of values that were tried in place of one, of whichever of these types that was (value_types.py)."""
    names = [alternative.partition("[")[0] for alternative in alternatives(types)]
    samples = [_SAMPLES[name] for name in names if name in _SAMPLES]
    shapes = [{shape_of(other, share) for other, _ in untyped(value) for share in (False, True)} for value in samples]
    return frozenset.intersection(*map(frozenset, shapes)) if len(samples) == len(names) else frozenset()


def shape_of(value: Any, is_share: bool = False) -> str:
    """The one shape of a value of another type than its key has, as it is recorded of older versions.

    Args:
        is_share: whether the key has the share of a dropout, which is not outside 0 and 1.
    """
    if is_share and type(value) in (int, float) and not 0 <= value <= 1:
        return "outside"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "flag"
    if isinstance(value, str):
        return "text" if is_numeral(value) else "word"
    if isinstance(value, list | dict):
        return _shape_of_many(value)
    if value % 1:
        return "half"
    return "float" if type(value) is float else "zero" if value == 0 else "below" if value < 0 else "number"


def _shape_of_many(items: list[Any] | dict[str, Any]) -> str:
    if not items or isinstance(items, dict):
        return "object" if items else "empty"
    if len(items) == 1:
        return "listed"
    if all(type(item) in (int, float) for item in items):
        return "paired" if len(items) == 2 else "list"
    return "texts" if all(isinstance(item, str) for item in items) else "list"
