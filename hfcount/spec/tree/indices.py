"""Sets of layer or expert numbers, stored as ranges: a billion layers cost no more than one."""

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from itertools import groupby
from math import gcd
from typing import Any, ClassVar

from hfcount.record import Record
from hfcount.spec.tree.dims import Dim, has_key, unnamed

_LISTS = r"[^\s()]+ in [\w.]+( with [^\s()]+ in [\w.]+)*"
_LISTED = 100_000  # the numbers of a larger set with gaps are not written one by one


class Indices(Record, kw_only=False):
    """The numbers of `base` that are in none of `without`.

    Args:
        base: a range, or a sorted tuple without duplicates.
        count: the size of the set; a Dim if it has a symbol, or follows from keys.
        without: disjoint subsets of `base` that are left out.
        ends: what `base` is a range of (start, stop, step), with the keys that they are from; None if nobody said.
    """

    _uncompared: ClassVar = frozenset({"ends"})

    base: range | tuple[int, ...]
    count: int
    without: tuple["Indices", ...] = ()
    ends: tuple[int, int, int] | None = None

    @classmethod
    def below(cls, count: int) -> "Indices":
        """0 to count - 1."""
        return cls(range(count), count, ends=(0, count, 1))

    @classmethod
    def span(cls, start: int, stop: int, step: int = 1) -> "Indices":
        """The numbers of that range; their count is arithmetic over the keys that its ends are from."""
        base = range(start, stop, step)
        if not base:
            return cls(base, 0, ends=(0, 0, 1))
        # Of the numbers below the end, those below the start are not among these.
        always = step == 1 and not isinstance(step, Dim)
        count = stop - start if always else (stop - (start - (step - 1))) // step
        return cls(base, count if count == len(base) else len(base), ends=(start, stop, step))

    @property
    def is_computed(self) -> bool:
        """Whether the count is arithmetic over keys and constants, not counted from a list of a config."""
        return (self.ends is not None or has_key(self.count)) and all(other.is_computed for other in self.without)

    @classmethod
    def fixed(cls, *numbers: int) -> "Indices":
        """These numbers, of which the architecture has as many whatever the config says."""
        indices = cls.of(numbers)
        return indices.replace(ends=(0, len(indices.base), 1))

    @classmethod
    def of(cls, numbers: range | Iterable[int]) -> "Indices":
        """Exactly these numbers."""
        base = numbers if isinstance(numbers, range) else tuple(sorted(set(map(int, numbers))))
        return cls(base, len(base))

    def difference(self, *others: "Indices") -> "Indices":
        """This set without `others`, which must be disjoint subsets of it."""
        others = tuple(other for other in others if other.count)
        computed = self.is_computed and all(other.is_computed for other in others)
        gone = sum(unnamed(other.count) if computed else int(other.count) for other in others)
        count = unnamed(self.count) - gone if computed else int(self.count) - int(gone)
        return Indices(self.base, count, self.without + others, self.ends)

    def shifted(self, by: int) -> "Indices":
        """Each of these numbers and `by`."""
        base, without = self.base, tuple(other.shifted(by) for other in self.without)
        if isinstance(base, range):
            ends = self.ends and (self.ends[0] + by, self.ends[1] + by, self.ends[2])
            return Indices(range(base.start + by, base.stop + by, base.step), self.count, without, ends)
        return Indices(tuple(number + by for number in base), self.count, without)

    @property
    def members(self) -> Container[int]:
        """The same numbers, as what looks many plain ones up the fastest."""
        if self.without:
            return self
        return self.base if isinstance(self.base, range) else frozenset(self.base)

    def __contains__(self, number: Any) -> bool:
        # A range looks up a plain int at once, but compares a subclass such as Dim with each of its numbers.
        base, number = self.base, int(number)
        if isinstance(base, tuple):
            place = bisect_left(base, number)
            if place == len(base) or base[place] != number:
                return False
        elif number not in base:
            return False
        return not any(number in other for other in self.without)

    def __iter__(self) -> Iterator[int]:
        return (number for number in self.base if number in self) if self.without else iter(self.base)

    def __str__(self) -> str:
        if isinstance(self.base, range) and not self.without:
            return _span(self.base)
        if len(self.base) > _LISTED and self.without:
            return f"{Indices(self.base, 0)} but " + " and ".join(map(str, self.without))
        spans = []
        # Consecutive numbers have the same difference between a number and its position.
        for _, run in groupby(enumerate(self), key=lambda placed: placed[1] - placed[0]):
            numbers = [number for _, number in run]
            spans.append(_span(range(numbers[0], numbers[-1] + 1)))
        return ",".join(spans) if len(spans) <= 8 else ",".join([*spans[:7], f"... ({self.count:,} in all)"])


def _span(numbers: range) -> str:
    if len(numbers) <= 1:
        return str(numbers.start)
    return f"{numbers[0]}-{numbers[-1]}" + ("" if numbers.step == 1 else f" step {numbers.step}")


def intersection(left: Indices, right: Indices) -> Indices:
    """The numbers that are in both."""
    if isinstance(left.base, range) and isinstance(right.base, range):
        both = _meet(left.base, right.base)
        for inner, other in ((left, right), (right, left)):
            if inner.base == both and not other.without:
                return inner  # all of which is in the other
        result = _met(left, right, both)
        for gone in (*left.without, *right.without):
            result = result.difference(intersection(result, gone))
        return result
    listed, other = (left, right) if isinstance(left.base, tuple) else (right, left)
    if isinstance(other.base, tuple) and len(other.base) < len(listed.base):
        listed, other = other, listed
    members = other.members
    result = Indices.of(number for number in map(int, listed) if number in members)
    known = next((operand for operand in (left, right) if operand.count == result.count), None)
    return known or result.replace(count=_at_once(left, right, len(result.base)))


def _at_once(left: Indices, right: Indices, count: int) -> int:
    """The size of what two sets share, with the lists that it follows from: each has an entry for every layer."""
    lists = [unnamed(operand.count) for operand in (left, right)]
    sources = [size.source for size in lists if isinstance(size, Dim) and re.fullmatch(_LISTS, size.source)]
    return Dim.named("", count, " with ".join(sources)) if len(sources) == len(lists) else count


def _met(left: Indices, right: Indices, both: range) -> Indices:
    """The range that two others share, with the keys that its ends are from where both say theirs."""
    if left.ends is None or right.ends is None:
        return Indices.of(both)
    for operand in (left, right):
        if operand.ends and operand.base == both:
            return Indices.span(*operand.ends)
    if both.step != max(left.ends[2], right.ends[2]):
        return Indices.of(both)
    start, stop = max(left.ends[0], right.ends[0]), min(left.ends[1], right.ends[1])
    narrow = left if left.ends[2] == both.step else right
    first = start if both.step == 1 else narrow.ends[0] if narrow.ends else 0
    return Indices.span(first, stop, both.step) if both.start == first else Indices.of(both)


def _meet(left: range, right: range) -> range:
    """The numbers that two rising ranges share, by the Chinese remainder theorem."""
    divisor, distance = gcd(left.step, right.step), right.start - left.start
    if distance % divisor:
        return range(0)
    steps = right.step // divisor
    step = left.step * steps
    first = left.start + left.step * (distance // divisor * pow(left.step // divisor, -1, steps) % steps)
    start = first + step * max(0, -((first - max(left.start, right.start)) // step))
    return range(start, max(start, min(left.stop, right.stop)), step)
