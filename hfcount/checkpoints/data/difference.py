"""Statistics of how the values of two tensors differ; needs no numpy."""

from dataclasses import dataclass
from math import isfinite, sqrt
from operator import or_

THROUGH = ("BF16", "F16")
"""Dtypes that values may have had between two files, and were rounded to."""


@dataclass(slots=True)
class Difference:
    """How the values of a tensor differ from those of another one.

    Args:
        elements: how many there are.
        differing: how many are not the same: in their bits, or of different dtypes in their values. Of dtypes that are
            not known, how many bytes.
        beyond: how many of these are NaN or infinite on either side; they are in none of the following figures.
        introduced: how many of these are NaN or infinite in the second tensor alone.
        largest: the largest absolute difference.
        absolute: the sum of the absolute differences.
        squares: the sum of the squares of differences.
        base: the sum of the squares of the first tensor's values, of those chunks in which something differs.
        based: how many values that sum is of.
        beside: the sum of the squares of the second tensor's values, of the same chunks.
        unrounded: whether some are not what the first tensor's values become in the second's dtype: at once, and
            through each of `THROUGH`.
        far: whether some differ by more than both dtypes make of one original, rounded to each of them.
        normal: whether some differ that are large enough for both dtypes to hold them with all bits of theirs.
        first: the number of the first element that differs; None if none does, or dtypes are not known.
    """

    elements: int = 0
    differing: int = 0
    beyond: int = 0
    introduced: int = 0
    largest: float = 0.0
    absolute: float = 0.0
    squares: float = 0.0
    base: float = 0.0
    based: int = 0
    beside: float = 0.0
    unrounded: tuple[bool, ...] = (False,) * (1 + len(THROUGH))
    far: bool = False
    normal: bool = False
    first: int | None = None

    @property
    def identical(self) -> bool:
        """Whether no element differs."""
        return not self.differing

    @property
    def share(self) -> float:
        """The share of elements that differ, from 0 to 1."""
        return self.differing / self.elements if self.elements else 0.0

    @property
    def rms(self) -> float | None:
        """The root mean square of the differences of all elements; None if it is no 64-bit float."""
        if not self.elements:
            return 0.0
        return sqrt(self.squares / self.elements) if isfinite(self.squares) else None

    @property
    def relative(self) -> float | None:
        """`rms` as a share of the root mean square of the first tensor, where that differs; None if it has none."""
        rms = self.rms
        return None if rms is None or not isfinite(self.base) or not self.base else rms / sqrt(self.base / self.based)

    @property
    def cosine(self) -> float | None:
        """The cosine of the angle between both tensors' values where they differ; None where either are zero."""
        product = sqrt(self.base) * sqrt(self.beside)
        if not isfinite(self.squares) or not isfinite(product) or not product:
            return None
        return (self.base + self.beside - self.squares) / 2 / product

    def changed(self) -> None:
        """Records that rounding does not explain the difference."""
        self.unrounded = (True,) * len(self.unrounded)
        self.far = self.normal = True

    def add(self, other: "Difference", begin: int = 0) -> None:
        """Adds the difference of further elements, the first of which is number `begin`."""
        if other.first is not None:
            self.first = min(begin + other.first, begin + other.first if self.first is None else self.first)
        self.elements += other.elements
        self.differing += other.differing
        self.beyond += other.beyond
        self.introduced += other.introduced
        self.largest = max(self.largest, other.largest)
        self.absolute += other.absolute
        self.squares += other.squares
        self.base += other.base
        self.based += other.based
        self.beside += other.beside
        self.unrounded = tuple(map(or_, self.unrounded, other.unrounded))
        self.far, self.normal = self.far or other.far, self.normal or other.normal
