"""Statistics of a tensor's values."""

from dataclasses import dataclass
from math import inf, isfinite, sqrt
from typing import NamedTuple


class Spot(NamedTuple):
    """A value: its number in the order in which values are stored, and its bits."""

    number: int
    code: int


@dataclass(slots=True)
class Tally:
    """Statistics of values; NaN and infinite values count only in `count`, `nan` and `infinite`.

    Args:
        count: how many values there are, of all kinds.
        zeros, nan, infinite: how many of them are that.
        least, most: the smallest and the largest; of none `inf` and `-inf`.
        total, squares: sums of the values, and of their squares; nothing is summed of whole numbers.
        summed: how many values these sums are of.
        first_nan, first_infinite: where the first of these is; None if none is.
    """

    count: int = 0
    zeros: int = 0
    nan: int = 0
    infinite: int = 0
    least: float | int = inf
    most: float | int = -inf
    total: float = 0.0
    squares: float = 0.0
    summed: int = 0
    first_nan: Spot | None = None
    first_infinite: Spot | None = None

    def add(self, other: "Tally", start: int = 0) -> None:
        """Adds the tally of further values, the first of which is number `start`."""
        self.count += other.count
        self.zeros += other.zeros
        self.nan += other.nan
        self.infinite += other.infinite
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.total += other.total
        self.squares += other.squares
        self.summed += other.summed
        self.first_nan = _first(self.first_nan, other.first_nan, start)
        self.first_infinite = _first(self.first_infinite, other.first_infinite, start)

    @property
    def range(self) -> tuple[float | int, float | int] | None:
        """The smallest and the largest value; None if no value is finite."""
        return None if self.least > self.most else (self.least, self.most)

    @property
    def mean(self) -> float | None:
        """None of whole numbers, or where it cannot be told."""
        return _known(self.total / self.summed) if self.summed else None

    @property
    def rms(self) -> float | None:
        """The root of the mean square; None as for the mean."""
        return _known(sqrt(self.squares / self.summed)) if self.summed else None

    @property
    def constant(self) -> float | int | None:
        """The value that all have; None if they differ, or some are not finite."""
        return self.least if self.count and not (self.nan or self.infinite) and self.least == self.most else None


def _first(known: Spot | None, other: Spot | None, start: int) -> Spot | None:
    further = Spot(start + other.number, other.code) if other else None
    return min(known, further) if known and further else known or further


def _known(value: float) -> float | None:
    return value if isfinite(value) else None
