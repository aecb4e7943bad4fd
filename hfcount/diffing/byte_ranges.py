"""The bytes of one tensor on both sides, cut where either side has them in another place."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hfcount.checkpoints.data.locations import Place, elements
from hfcount.diffing.fused_tensors import Bytes
from hfcount.formats.dtypes import BITS
from hfcount.formats.gguf.types import BLOCKS


class Run(NamedTuple):
    """A run of bytes in a file, of elements of one dtype; `head` is that of Bytes."""

    file: str
    begin: int
    end: int
    dtype: str
    head: tuple[int, int] = (0, 0)

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return elements(self.dtype, self.end - self.begin)

    def cut(self, count: int) -> tuple["Run", "Run"]:
        """The first elements, and the rest."""
        block = BLOCKS.get(self.dtype)
        middle = self.begin + (count // block.block * block.bytes if block else count * BITS[self.dtype] // 8)
        return self._replace(end=middle), self._replace(begin=middle)


def runs(pieces: Sequence[Bytes], places: Mapping[str, Place]) -> list[Run] | None:
    """Where the bytes of a tensor are, those that follow one another as one; None where that is not known."""
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
    """Runs of as many elements on both sides; nothing where one has more in all than the other."""
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
