"""The interface of sources of values: files, or tensors in memory."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hfcount.checkpoints.data.float_formats import WHOLE
from hfcount.checkpoints.data.locations import TensorLocation
from hfcount.checkpoints.data.pool import Done
from hfcount.checkpoints.data.runs import Bytes
from hfcount.checkpoints.data.tally import Tally
from hfcount.formats.dtypes import BITS


@dataclass(frozen=True, slots=True)
class Values:
    """The tally of each tensor by name, and the requested sha256 of files."""

    tallies: Mapping[str, Tally]
    sums: Mapping[str, str]


class Source(Protocol):
    """Reads values of tensors."""

    def read(self, places: Mapping[str, TensorLocation], summed: Collection[str], done: Done) -> Values:
        """All values of some tensors, each read once.

        Args:
            summed: files of which the sha256 is wanted.
            done: called with the number of bytes that were counted.

        Raises:
            FetchError: a file cannot be read, or was changed meanwhile.
        """

    def parts(self, place: TensorLocation, begins: Sequence[int], size: int) -> list[bytes]:
        """Some bytes of a tensor, from each of these on; raises as `read` does."""

    def chunks(self, place: TensorLocation) -> Iterator[Bytes]:
        """The bytes of a tensor, a chunk at a time, each in place of the one before; raises as `read` does."""


_HEAD, _STEPS = 512, 3  # bytes that are looked at, and steps of codes that count up

Codes = NDArray[np.integer]


def search(source: Source, place: TensorLocation, wanted: Callable[[Codes], NDArray[np.bool]]) -> tuple[int, int]:
    """How many elements of a tensor are wanted, and the number of the first, or 0; by codes of at least 8 bits."""
    dtype = place.entry.dtype
    count = first = start = 0
    for raw in source.chunks(place):
        codes = raw.view(WHOLE.get(dtype, f"u{BITS[dtype] // 8}"))
        matches = np.flatnonzero(wanted(codes))
        first = start + int(matches[0]) if matches.size and not count else first
        count, start = count + int(matches.size), start + codes.size
    return count, first


def counts_up(place: TensorLocation, source: Source) -> bool:
    """Whether codes go up in steps as those of a table do, rather than being weights."""
    dtype = place.entry.dtype
    if BITS.get(dtype, 8) != 8 and dtype not in WHOLE:
        return False
    (head,) = source.parts(place, [0], _HEAD)
    whole = head[: len(head) // 8 * 8]
    return any(np.unique(np.diff(np.frombuffer(whole, kind))).size <= _STEPS for kind in ("u1", WHOLE.get(dtype, "u1")))


def same_bytes(source: Source, place: TensorLocation, other: TensorLocation) -> bool:
    """Whether two tensors of one size hold the same bytes; reads on only while they do."""
    return all(
        np.array_equal(raw, beside) for raw, beside in zip(source.chunks(place), source.chunks(other), strict=True)
    )


def elements_differing(source: Source, place: TensorLocation, other: TensorLocation) -> tuple[int, int]:
    """How many elements of two tensors of one shape and dtype differ in their bits, and the number of the first."""
    count = first = start = 0
    width = max(BITS[place.entry.dtype] // 8, 1)
    for raw, beside in zip(source.chunks(place), source.chunks(other), strict=True):
        differing = np.flatnonzero((raw != beside).reshape(-1, width).any(axis=1))
        first = start + int(differing[0]) if differing.size and not count else first
        count, start = count + int(differing.size), start + raw.size // width
    return count, first
