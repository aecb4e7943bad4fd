"""Statistics of a tensor's values."""

from dataclasses import dataclass, field
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hfcount.checkpoints.data.byte_patterns import Blocks, Patterns, RowSample
    from hfcount.checkpoints.data.byte_span import Span


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
        zero_runs: bytes of the tensor that are zero, of long runs.
        rows: how some rows compare with those before them; None if none were compared.
        text: bytes of the tensor that are text; None if none are known to be.
        blocks: places of the tensor that may hold the same bytes.
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
    zero_runs: "list[Span]" = field(default_factory=list)
    rows: "RowSample | None" = None
    text: "Span | None" = None
    blocks: "list[Blocks]" = field(default_factory=list)

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
        self._add_patterns(other)

    def take(self, patterns: "Patterns") -> None:
        """Keeps the patterns of the same values."""
        self.zero_runs, self.rows, self.text = patterns.zero_runs, patterns.rows, patterns.text
        self.blocks = patterns.repeated_blocks()

    def _add_patterns(self, other: "Tally") -> None:
        for run in other.zero_runs:
            if self.zero_runs and self.zero_runs[-1].end == run.begin:
                self.zero_runs[-1] = run._replace(begin=self.zero_runs[-1].begin)
            else:
                self.zero_runs.append(run)
        self.rows = self.rows.added(other.rows) if self.rows and other.rows else self.rows or other.rows
        self.text = self.text or other.text
        self.blocks += other.blocks

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
