"""Sets of layer or expert numbers, stored as ranges: a billion layers cost no more than one."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import gcd

_LISTED = 100_000  # the numbers of a larger set with gaps are not written one by one


@dataclass(frozen=True, slots=True)
class Indices:
    """The numbers of `base` that are in none of `without`.

    Args:
        base: a range, or a sorted tuple without duplicates.
        count: the size of the set; a Dim if it has a symbol.
        without: disjoint subsets of `base` that are left out.
    """

    base: range | tuple[int, ...]
    count: int
    without: tuple["Indices", ...] = ()

    @classmethod
    def below(cls, count: int) -> "Indices":
        """0 to count - 1."""
        return cls(range(count), count)

    @classmethod
    def of(cls, numbers: range | Iterable[int]) -> "Indices":
        """Exactly these numbers."""
        base = numbers if isinstance(numbers, range) else tuple(sorted(set(map(int, numbers))))
        return cls(base, len(base))

    def difference(self, *others: "Indices") -> "Indices":
        """This set without `others`, which must be disjoint subsets of it."""
        others = tuple(other for other in others if other.count)
        return Indices(self.base, int(self.count) - sum(int(other.count) for other in others), self.without + others)

    def shifted(self, by: int) -> "Indices":
        """Each of these numbers and `by`."""
        base, without = self.base, tuple(one.shifted(by) for one in self.without)
        if isinstance(base, range):
            return Indices(range(base.start + by, base.stop + by, base.step), self.count, without)
        return Indices(tuple(number + by for number in base), self.count, without)

    def __contains__(self, number: int) -> bool:
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
        if len(self.base) > _LISTED:
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
        result = Indices.of(_meet(left.base, right.base))
        for gone in (*left.without, *right.without):
            result = result.difference(intersection(result, gone))
        return result
    listed, other = (left, right) if isinstance(left.base, tuple) else (right, left)
    if isinstance(other.base, tuple) and len(other.base) < len(listed.base):
        listed, other = other, listed
    return Indices.of(number for number in listed if number in other)


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
