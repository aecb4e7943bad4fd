"""The operators of Python as recorded functions may use them, with bounds, and the methods of plain values."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_LONGEST = 1_000_000
_MOST_BITS = 4096


class NotRun(Exception):
    """Something that is recorded and cannot be run here."""


class Tick:
    """Counts the steps of a run, and knows where it is.

    Args:
        left: how many steps it may have.
    """

    def __init__(self, left: int) -> None:
        self.left = left
        self.file, self.line = "", 0

    def __call__(self, count: int) -> None:
        """Counts steps."""
        self.left -= count
        if self.left < 0:
            raise NotRun("it takes too many steps")


class Member(NamedTuple):
    """A member of an enumeration."""

    kind: str
    name: str
    value: Any

    def attribute(self, name: str) -> Any:
        """Its name or value."""
        return {"name": self.name, "value": self.value}[name]


def _times(left: Any, right: Any) -> Any:
    for values, count in ((left, right), (right, left)):
        if isinstance(values, str | list | tuple) and isinstance(count, int) and len(values) * count > _LONGEST:
            raise NotRun("it makes too long a list")
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and right * max(left.bit_length(), 1) > _MOST_BITS:
        raise NotRun("it makes too large a number")
    return left**right


def _shifted(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and right > _MOST_BITS:
        raise NotRun("it makes too large a number")
    return left << right


def _contained(left: Any, right: Any) -> bool:
    return left in right


def _not_contained(left: Any, right: Any) -> bool:
    return left not in right


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": _times,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": _power,
    "<<": _shifted,
    ">>": operator.rshift,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
    "@": operator.matmul,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": _contained,
    "not in": _not_contained,
}
"""Operators of two values."""

_TEXT = (
    "endswith startswith replace split rsplit partition rpartition removesuffix removeprefix find lower upper isdecimal"
)
METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(f"{_TEXT} isdigit format join strip index count encode".split()),
    bytes: frozenset({"decode"}),
    list: frozenset("append extend pop sort index copy count insert".split()),
    tuple: frozenset({"index", "count"}),
    dict: frozenset("get keys values items pop setdefault update copy clear fromkeys".split()),
    set: frozenset("add update difference issubset symmetric_difference discard clear".split()),
    re.Match: frozenset("group groups start end".split()),
    re.Pattern: frozenset({"match", "search", "fullmatch", "sub"}),
    int: frozenset({"bit_length"}),
    float: frozenset({"is_integer"}),
    bool: frozenset(),
    type(None): frozenset(),
}
"""Methods of plain values."""
