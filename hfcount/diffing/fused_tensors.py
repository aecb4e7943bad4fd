"""Maps fused, stacked or split stored tensors to the model's tensors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from hfcount.formats.dtypes import BITS
from hfcount.formats.safetensors import Entry
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.spellings import Swap

Parts = Mapping[str, tuple[str, Entry]]
"""Stored name and entry of each part, by its name in the blueprint's other layout."""


class Bytes(NamedTuple):
    """A byte range in the data of a stored tensor.

    Args:
        head: (rows of a head, elements of a row) if the rows of its two halves alternate; else (0, 0).
    """

    stored: str
    begin: int
    end: int
    head: tuple[int, int] = (0, 0)


MappedTensor = tuple[Leaf, str, tuple[int, ...], str, tuple[Bytes, ...]]
"""(leaf, tensor name, shape, dtype, byte ranges in order)."""


def relaid(swap: Swap, parts: Parts) -> Iterator[MappedTensor]:
    """The blueprint's tensors of a swap, if all of its stored parts are present."""
    if len(swap.described) > 1 or _numbers(swap.described[0]) > _numbers(swap.stored[0]):
        yield from _of_one(swap, parts)
    else:
        yield from _of_several(swap, parts)


def _numbers(leaf: Leaf) -> int:
    return len(leaf.indices)


def _of_one(swap: Swap, parts: Parts) -> Iterator[MappedTensor]:
    """Splits one stored tensor into several tensors of the blueprint: fused along an axis, then stacked by expert."""
    fused = swap.stored[0]
    stacked = _numbers(swap.described[0]) > _numbers(fused)
    for numbers in product(*fused.indices):
        stored = parts.get(_name(fused, numbers))
        if stored is None or len(stored[1].shape) != len(fused.shape):
            continue
        name, entry = stored
        experts = Indices.below(entry.shape[0]) if stacked else [None]
        matrix = entry.shape[1:] if stacked else entry.shape
        axis = _axis(swap.described, matrix)
        sizes = _shares(swap.described, axis, matrix[axis])
        for place, number in enumerate(experts):
            start = 0
            for leaf, size in zip(swap.described, sizes, strict=True):
                full = (*numbers, number) if number is not None else numbers
                shape = (*matrix[:axis], size, *matrix[axis + 1 :])
                ranges = _slices(matrix, axis, start, size, place * prod(matrix))
                start += size
                yield leaf, _name(leaf, full), shape, entry.dtype, _bytes(name, entry.dtype, ranges)


def _of_several(swap: Swap, parts: Parts) -> Iterator[MappedTensor]:
    """Assembles one tensor of the blueprint from several stored ones of one shape, by expert if it stacks experts."""
    leaf = swap.described[0]
    for numbers in product(*leaf.indices):
        stacked = _numbers(swap.stored[0]) > _numbers(leaf)
        experts: Sequence[int | None] = [*swap.stored[0].indices[-1]] if stacked else [None]
        grid = [
            [parts.get(_name(leaf_, numbers if number is None else (*numbers, number))) for leaf_ in swap.stored]
            for number in experts
        ]
        rows = [[part for part in row if part is not None] for row in grid]
        if any(len(row) < len(swap.stored) for row in rows) or not rows:
            continue
        entry = rows[0][0][1]
        axis = _axis(swap.stored, entry.shape)
        joined = sum(entry_.shape[axis] for _, entry_ in rows[0])
        matrix = (*entry.shape[:axis], joined, *entry.shape[axis + 1 :])
        shape = (len(rows), *matrix) if stacked else matrix
        pieces = tuple(piece for row in rows for piece in _woven(row, axis))
        yield leaf, _name(leaf, numbers), shape, entry.dtype, pieces


def _woven(row: Sequence[tuple[str, Entry]], axis: int) -> Iterator[Bytes]:
    """The byte ranges of tensors fused along an axis, in the order of the fused tensor."""
    for place in range(prod(row[0][1].shape[:axis])):
        for name, entry in row:
            size = prod(entry.shape[axis:]) * BITS[entry.dtype] // 8 if entry.end else 0
            yield Bytes(name, place * size, (place + 1) * size)


def _axis(leaves: Sequence[Leaf], shape: Sequence[int]) -> int:
    """The axis of fusion: the first, or the one after the expert index."""
    return int(leaves[0].component in ("experts", "mlp") and len(shape) == 3)


def _shares(leaves: Sequence[Leaf], axis: int, extent: int) -> list[int]:
    """The share of each leaf in a dimension: by the config if the sum fits, else equal."""
    sizes = [int(leaf.shape[axis]) for leaf in leaves]
    if sum(sizes) == extent:
        return sizes
    return [extent // len(leaves)] * (len(leaves) - 1) + [extent - extent // len(leaves) * (len(leaves) - 1)]


def _slices(shape: Sequence[int], axis: int, start: int, size: int, first: int) -> Iterator[tuple[int, int]]:
    """Element ranges of a slice along an axis, in a tensor that begins at element `first`."""
    inner, rows = prod(shape[axis + 1 :]), prod(shape[:axis])
    for row in range(rows):
        begin = first + (row * shape[axis] + start) * inner
        yield begin, begin + size * inner


def _bytes(name: str, dtype: str, ranges: Iterator[tuple[int, int]]) -> tuple[Bytes, ...]:
    bits = BITS.get(dtype, 0)
    return tuple(Bytes(name, begin * bits // 8, end * bits // 8) for begin, end in ranges)


def _name(leaf: Leaf, numbers: Sequence[int | None]) -> str:
    """The name of a leaf's tensor with these indices; constant indices may be omitted."""
    fixed = len(leaf.indices) > len(numbers)
    given = iter(numbers)
    segments = []
    for part in leaf.segments:
        if isinstance(part, Indices):
            segments.append(str(next(iter(part)) if fixed and part.count == 1 else next(given, "")))
        else:
            segments.append(part)
    return ".".join(segments)
