"""Names that differ only in their numbers, of which what patterns make is worked out once for all."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from hfcount.spec.tree.leaves import joined, split

T = TypeVar("T")

MARK = 10**15
"""This and more stand for numbers of a name while patterns change it; no layer has such a number."""

_MOST = 20_000  # kinds of names that are remembered; where there are more, hardly any two names are alike


class Alike(Generic[T]):
    """What `work` makes of names, where it takes those alike that differ only in numbers of two digits or more.

    Patterns for names mention single digits, such as `mlp.0.`, and no longer numbers. `work` is given marks for these.
    """

    def __init__(self, work: Callable[[str], T]) -> None:
        self._work = work
        self._known: dict[tuple[tuple[str, ...], tuple[int, ...]], T] = {}

    def of(self, name: str) -> tuple[T, tuple[int, ...]]:
        """What comes of a name, in which `filled` puts its numbers in place of marks, and these numbers."""
        text, numbers = split(name)
        alike = tuple([number if number < 10 else MARK + place for place, number in enumerate(numbers)])
        key = text, alike
        if key in self._known:
            return self._known[key], numbers
        result = self._work(joined(text, alike))
        if len(self._known) < _MOST:
            self._known[key] = result
        return result, numbers


def filled(marked: Iterable[int], numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of a name where marks stand for some of them."""
    return tuple([numbers[number - MARK] if number >= MARK else number for number in marked])
