"""Values of other types than a key has, which version 4 does not look at: the newest classes refuse them.

Of an older version it is recorded by their shape whether a model is built all the same (built.json).
"""

from collections.abc import Iterator
from typing import Any

VALUE: Any = object()
"""In place of a value: what the config has."""


def untyped(value: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Values of other types than a key has, each with those of its type with which the same model has to be built."""
    if value is None:
        yield from ((other, (VALUE,)) for other in (0, 1, True, "auto", [1]))
        return
    both = (False, True) if type(value) is bool else (VALUE,)
    yield None, both
    if type(value) is bool:
        yield from ((0, (False,)), (1, (True,)), ("true", both), ("false", both))
    elif type(value) in (int, float):
        others = (float(value), value + 0.5) if type(value) is int else (0, 1)
        yield from ((other, both) for other in (*others, str(value), [value], [value, value]))
    elif isinstance(value, str):
        yield from ((other, both) for other in (0, 1, [value]))
    elif isinstance(value, list) and value:
        items = [str(item) for item in value]
        yield from ((other, both) for other in (value[0], items, ",".join(items)))


def tried(value: Any) -> frozenset[str]:
    """The shapes of values that were tried in place of one."""
    return frozenset(shape_of(other) for other, _ in untyped(value))


def shape_of(value: Any) -> str:
    """The one shape of a value of another type than its key has, as it is recorded of older versions."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "flag"
    if isinstance(value, str):
        return "text" if _is_number(value) else "word"
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
