"""Counts successive chunks of one dtype in the same buffer, with few numpy calls.

Between two chunks the processor's cache holds nothing of Python any more, so that each call is dear: what can be
prepared is prepared once, and what can be added up later is kept until then.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hfcount.checkpoints.data.float_formats import FLOATS, Float
from hfcount.checkpoints.data.tally import Tally

Bytes = NDArray[np.uint8]

ROW = 4096
"""Values of which the squares are summed at once: of more, some libraries would start threads."""

ONES: dict[int, NDArray[np.floating]] = {4: np.ones(ROW, np.float32), 8: np.ones(ROW, np.float64)}
"""By bytes of a value."""

_SMALL, _LARGE = 2.0**-40, 2.0**50
"""Between these lies the largest magnitude of a chunk, of which the squares are 32-bit floats."""

_max, _min, _dot = np.maximum.reduce, np.minimum.reduce, np.vecdot

Step = tuple[np.ufunc, NDArray[Any], Any, NDArray[Any]]
"""A numpy function, its operands, and the array for its result."""


class Run:
    """Counts chunks of ordinary values: all finite, and neither all tiny nor huge.

    Args:
        dtype: of at least 8 bits, and with a sign.
        raw: the buffer in which each chunk is; a multiple of rows in any width.
        words: as many bytes, for what becomes of them.
    """

    def __init__(self, dtype: str, raw: Bytes, words: NDArray[np.uint32]) -> None:
        self._kind = kind = FLOATS[dtype]
        self._codes = raw.view(f"u{kind.bits // 8}")
        self._signed = self._codes.view(f"i{kind.bits // 8}")
        self._bounds = kind.code(_SMALL), min(kind.code(_LARGE), kind.highest)
        self._lanes = _lanes(kind, raw, words)
        self._sums: list[NDArray[np.floating]] = []
        self._squares: list[NDArray[np.floating]] = []
        self._most, self._far, self._near = -kind.sign, 0, 2 * kind.sign - 1
        self._count = self._zeros = 0

    def count(self) -> bool:
        """Adds the chunk that is in the buffer, and spoils it; else nothing is added.

        Returns:
            Whether it is one of ordinary values; the buffer is as it was if it is not.
        """
        codes, sign = self._codes, self._kind.sign
        most, far = int(_max(self._signed)), int(_max(codes))
        if not self._bounds[0] <= max(most, far - sign) <= self._bounds[1]:
            return False
        near, zeros = int(_min(codes)), 0
        if near == 0:
            zeros = codes.size - int(np.count_nonzero(codes))
        if far >= sign and int(_min(self._signed)) == -sign:  # minus zero
            if self._kind.unsigned_zero:
                return False
            zeros += int(np.count_nonzero(codes == sign))
        for steps, rows, ones in self._lanes:
            for function, values, operand, out in steps:
                function(values, operand, out)
            self._sums.append(_dot(rows, ones))
            self._squares.append(_dot(rows, rows))
        self._count, self._zeros = self._count + codes.size, self._zeros + zeros
        self._most, self._far, self._near = max(self._most, most), max(self._far, far), min(self._near, near)
        return True

    def tally(self) -> Tally:
        """What was counted."""
        if not self._count:
            return Tally()
        kind, far = self._kind, self._far
        return Tally(
            self._count,
            self._zeros,
            least=kind.value(far if far >= kind.sign else self._near),
            most=kind.value(self._most if self._most >= 0 else self._near),
            total=_added(self._sums),
            squares=_added(self._squares),
            summed=self._count,
        )


def _lanes(kind: Float, raw: Bytes, words: NDArray[np.uint32]) -> list[tuple[list[Step], NDArray[Any], NDArray[Any]]]:
    """How the chunk becomes floats, of which lie several in a word: steps, and the rows and ones to multiply then."""
    if kind.bits >= 32:
        width = kind.bits // 8
        return [([], raw.view(f"f{width}").reshape(-1, ROW), ONES[width])]
    read = raw.view(np.uint32)
    *others, last = kind.lanes.shifts
    places = [(by, words) for by in others] + [(last, read)]  # the last takes the place of what nobody needs any more
    rows = [out.view(np.float32).reshape(-1, ROW) for _, out in places]
    return [(list(_steps(kind, by, read, out)), row, ONES[4]) for (by, out), row in zip(places, rows, strict=True)]


def _steps(kind: Float, by: int, read: NDArray[np.uint32], words: NDArray[np.uint32]) -> Iterator[Step]:
    """How one element of each word becomes a 32-bit float."""
    lanes, signed, floats = kind.lanes, words.view(np.int32), words.view(np.float32)
    if by:
        yield np.left_shift, read, np.uint32(by), words
        read = words
    if lanes.back:
        yield np.right_shift, read.view(np.int32), np.int32(lanes.back), signed
        read = words
    if lanes.back or not by:
        yield np.bitwise_and, read, np.uint32(lanes.mask), words
    if lanes.power:
        yield np.multiply, floats, np.float32(2.0**lanes.power), floats


def _added(sums: Sequence[NDArray[np.floating]]) -> float:
    return float(np.add.reduce(np.concatenate(sums), dtype=np.float64))
