"""Helpers for the messages of findings."""

from collections.abc import Sequence

from hfcount.text import plural, printable

_NAME = 120  # characters of a tensor's name that a message repeats


def agree(count: int, singular: str, several: str) -> str:
    """A word in singular or plural, such as `is` or `are`."""
    return singular if count == 1 else several


def some(names: Sequence[str]) -> str:
    """The first three names of a list, and how many more rows there are."""
    shown = ", ".join(printable(name, _NAME) for name in names[:3])
    return shown + (f" and {plural(len(names) - 3, 'more row')}" if len(names) > 3 else "")


def short(name: str) -> str:
    """A tensor's name, cut to what a message repeats of it."""
    return printable(name, _NAME)


def listed(texts: Sequence[str]) -> str:
    """All texts of a list, each cut to 60 characters."""
    return ", ".join(printable(text, 60) for text in texts)


def sides(shape: Sequence[int]) -> str:
    """A shape, such as 12×24."""
    return "×".join(map(str, shape)) or "a scalar"


def by_how_much(number: int, expected: int, more: str = "more", fewer: str = "fewer") -> str:
    """By how much a number differs from the expected one, such as `5 more`."""
    return f"{number - expected:,} {more}" if number > expected else f"{expected - number:,} {fewer}"
