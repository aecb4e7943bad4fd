"""Aligns the byte runs of a tensor on both sides."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hfcount.checkpoints.data.locations import TensorLocation, elements
from hfcount.diffing.fused_tensors import Bytes
from hfcount.formats.dtypes import BITS
from hfcount.formats.gguf.types import BLOCKS


class Run(NamedTuple):
    """A contiguous run of elements of one dtype in a file; `head` as in Bytes."""

    file: str
    begin: int
    end: int
    dtype: str
    head: tuple[int, int] = (0, 0)

    @property
    def elements(self) -> int:
        """The number of elements."""
        return elements(self.dtype, self.end - self.begin)

    def cut(self, count: int) -> tuple["Run", "Run"]:
        """Splits the run after `count` elements."""
        block = BLOCKS.get(self.dtype)
        middle = self.begin + (count // block.block * block.bytes if block else count * BITS[self.dtype] // 8)
        return self._replace(end=middle), self._replace(begin=middle)


def runs(pieces: Sequence[Bytes], places: Mapping[str, TensorLocation]) -> list[Run] | None:
    """The runs of a tensor, adjacent ones merged; None if a place is unknown."""
    ranges: list[Run] = []
    for piece in pieces:
        place = places.get(piece.stored)
        if place is None or not (place.entry.dtype in BITS or place.entry.dtype in BLOCKS) or piece.end > place.size:
            return None
        begin, end = place.begin + piece.begin, place.begin + piece.end
        last = ranges[-1] if ranges else None
        run = Run(place.file, begin, end, place.entry.dtype, piece.head)
        if last and last == run._replace(begin=last.begin, end=begin):
            ranges[-1] = last._replace(end=end)
        else:
            ranges.append(run)
    return ranges


def paired(a: Sequence[Run], b: Sequence[Run]) -> Iterator[tuple[Run, Run]]:
    """Pairs of runs with equal element counts; nothing if the totals differ."""
    if sum(run.elements for run in a) != sum(run.elements for run in b):
        return
    left, right = [*reversed(a)], [*reversed(b)]
    while left and right:
        one, other = left.pop(), right.pop()
        count = min(one.elements, other.elements)
        first, rest = one.cut(count)
        second, others = other.cut(count)
        if count:
            yield first, second
        left += [rest] if rest.elements else []
        right += [others] if others.elements else []
