"""Compares the values of tensors in files: how many differ, and by how much."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BufferedReader
from itertools import chain
from math import inf, isfinite, prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfcount.checkpoints.data.count import CHUNK
from hfcount.checkpoints.data.decode import WIDE, Numbers, decoded
from hfcount.checkpoints.data.dequantize import READ
from hfcount.checkpoints.data.difference import THROUGH, Difference
from hfcount.checkpoints.data.float_formats import FLOATS
from hfcount.checkpoints.data.open_files import changed, filled, opened, state
from hfcount.checkpoints.data.pool import Done, Worker
from hfcount.checkpoints.data.processes import run_apart
from hfcount.checkpoints.data.rounding import half_steps, least_normal, rounded
from hfcount.checkpoints.data.runs import Bytes
from hfcount.formats.dtypes import BITS
from hfcount.formats.gguf.types import BLOCKS

Flags = NDArray[np.bool]

_PIECE = 1 << 17  # bytes that are compared at once
_TASK = 32  # steps of a chunk that a core takes at once
_WHOLE = 256  # elements that are whole blocks and bytes in every dtype
_PART = 1 << 14  # elements of which the difference is computed at once
_NARROW = 1e-15, 1e15  # between these, squares of 32-bit floats neither vanish nor overflow
_SQUARED = 1e150  # below it, sums of squares of 64-bit floats do not overflow


class Span(NamedTuple):
    """A tensor in a file, or a run of its elements.

    Args:
        path: the file.
        offset: the first byte of its data in the file.
        size: bytes of its data.
        dtype: by the safetensors format's name, or a type of GGUF's blocks that is read; of another one, bytes are
            compared and no values.
        shape: in elements.
        head: rows of a head, and elements of a row, where the rows of its two halves take turns in the file; both are
            compared with the first half before the second. (0, 0) where rows are in order.
    """

    path: Path
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]
    head: tuple[int, int] = (0, 0)


def compare_all(pairs: Mapping[str, tuple[Span, Span]], done: Done) -> dict[str, Difference]:
    """Compares pairs of tensors of the same shape, in any files.

    Args:
        done: called with the number of bytes that were compared, of both sides together.

    Raises:
        FetchError: a file cannot be read, or was changed meanwhile.
        ValueError: shapes of a pair differ.
    """
    works: list[Callable[[Worker], Difference]] = []
    names = []
    for name, (a, b) in pairs.items():
        for begin, first, second in _cut(name, a, b):
            works.append(partial(_compared, first, second))
            names.append((name, begin))
    before = {span.path: state(span.path) for span in chain.from_iterable(pairs.values())}
    differences = {name: Difference() for name in pairs}
    size = sum(a.size + b.size for a, b in pairs.values())
    for (name, begin), difference in zip(names, run_apart(works, done, size), strict=True):
        differences[name].add(difference, begin)
    for path, earlier in before.items():
        if state(path) != earlier:
            raise changed(path)
    return differences


def _cut(name: str, a: Span, b: Span) -> Iterator[tuple[int, Span, Span]]:
    """Both tensors in parts that are about as long, and the number of the first element of each."""
    if a.shape != b.shape or (a.size != b.size and not _known(a, b)):
        raise ValueError(f"{name}: {a.shape} and {b.shape} cannot be compared value by value")
    step = _TASK * _step(a, b)
    for begin in range(0, _units(a, b), step):
        count = min(step, _units(a, b) - begin)
        yield begin, _part(a, b, begin, count), _part(b, a, begin, count)


def comparable(a: str, b: str) -> bool:
    """Whether tensors of these dtypes can be compared: by their values, or of one dtype by their bytes."""
    return a == b or _valued(a, b)


def _valued(a: str, b: str) -> bool:
    return all(dtype in BITS or dtype in READ for dtype in (a, b)) and (a == "C64") == (b == "C64")


def _known(a: Span, b: Span) -> bool:
    return _valued(a.dtype, b.dtype)


def _bytes(span: Span, other: Span, count: int) -> int:
    """Of so many elements; of as many bytes where a dtype is not known."""
    if not _known(span, other):
        return count
    block = BLOCKS.get(span.dtype)
    return count // block.block * block.bytes if block else -(-count * BITS[span.dtype] // 8)


def _units(a: Span, b: Span) -> int:
    return prod(a.shape) if _known(a, b) else a.size


def _step(a: Span, b: Span) -> int:
    """Elements of which the wider one of both fills a chunk: whole blocks, and whole heads if rows take turns."""
    wider = max(_bytes(a, b, _WHOLE), _bytes(b, a, _WHOLE))
    step = CHUNK // wider * _WHOLE
    head = max(prod(span.head) for span in (a, b))
    return max(step // head, 1) * head if head else step


def _part(span: Span, other: Span, begin: int, count: int) -> Span:
    offset = span.offset + _bytes(span, other, begin)
    return span._replace(offset=offset, size=_bytes(span, other, count), shape=(count,))


def _compared(a: Span, b: Span, worker: Worker) -> Difference:
    """The difference of parts that a core takes at once: of bytes first, and of values in chunks whose bytes differ."""
    difference, step, units = Difference(elements=a.shape[0]), _step(a, b), a.shape[0]
    buffers = [np.empty(max(_bytes(span, other, min(step, units)), 1), np.uint8) for span, other in ((a, b), (b, a))]
    bytewise = a.dtype == b.dtype and a.head == b.head and hasattr(os, "pread")
    with opened(a.path) as first, opened(b.path) as second:
        for begin in range(0, units, step):
            count = min(step, units - begin)
            chunk, other = _part(a, b, begin, count), _part(b, a, begin, count)
            if not (bytewise and _same_bytes(first, chunk, second, other)):
                raw = [
                    _in_order(_filled(file, part, buffer), part)
                    for file, part, buffer in ((first, chunk, buffers[0]), (second, other, buffers[1]))
                ]
                if a.dtype != b.dtype or not _same(*raw):
                    _differ(difference, begin, (a, b), *raw)
            worker.went(chunk.size + other.size)
    worker.went(0)
    return difference


def _same_bytes(first: BufferedReader, a: Span, second: BufferedReader, b: Span) -> bool:
    """Whether both files hold the same bytes there; read in pieces that stay in the cache of a core."""
    for begin in range(0, a.size, _PIECE):
        size = min(_PIECE, a.size - begin)
        piece = os.pread(first.fileno(), size, a.offset + begin)
        if len(piece) != size:
            raise changed(a.path)
        if piece != os.pread(second.fileno(), size, b.offset + begin):
            return False
    return True


def _filled(file: BufferedReader, span: Span, buffer: Bytes) -> Bytes:
    file.seek(span.offset)
    return filled(file, buffer[: span.size], span.path)


def _in_order(raw: Bytes, span: Span) -> Bytes:
    """Whole heads with the rows of their first halves before those of the second."""
    rows, elements = span.head
    if not rows:
        return raw
    width = _bytes(span, span, elements)
    return np.ascontiguousarray(raw.reshape(-1, rows // 2, 2, width).swapaxes(1, 2)).reshape(-1)


def _same(chunk: Bytes, other: Bytes) -> bool:
    aligned = chunk.size // 8 * 8
    words = chunk[:aligned].view(np.uint64) != other[:aligned].view(np.uint64)
    return not (words.any() or (chunk[aligned:] != other[aligned:]).any())


def _differ(difference: Difference, start: int, spans: tuple[Span, Span], chunk: Bytes, other: Bytes) -> None:
    """Adds the difference of chunks that are not the same, in parts of which all that is computed fits the cache.

    Args:
        start: the number of their first element.
    """
    a, b = spans
    if not _known(a, b):
        difference.differing += int(np.count_nonzero(chunk != other))
        difference.changed()
        return
    steps = _bytes(a, b, _PART), _bytes(b, a, _PART)
    with np.errstate(invalid="ignore", over="ignore"):
        for begin, beside in zip(range(0, chunk.size, steps[0]), range(0, other.size, steps[1]), strict=True):
            _part_differs(difference, start, spans, chunk[begin : begin + steps[0]], other[beside : beside + steps[1]])
            start += _PART


def _part_differs(difference: Difference, start: int, spans: tuple[Span, Span], chunk: Bytes, other: Bytes) -> None:
    a, b = spans
    wide = a.dtype in WIDE or b.dtype in WIDE
    x, y = decoded(a.dtype, chunk, wide), decoded(b.dtype, other, wide)
    apart = _apart(a, b, chunk, other, x, y)
    count = int(np.count_nonzero(apart))
    if count and difference.first is None:
        difference.first = start + int(np.argmax(apart))
    difference.differing += count
    if count and not (all(difference.unrounded) and difference.far and difference.normal):
        _explained(difference, a, b, (x, y), apart if apart.size == x.size else slice(None))
    gap = y - x
    largest, squares = _squares(gap)
    if not (isfinite(largest) or wide):  # of huge values of both signs, 32-bit floats hold no difference
        x, y = x.astype(np.float64), y.astype(np.float64)
        gap = y - x
        largest, squares = _squares(gap)
    if not isfinite(largest):
        finite = np.isfinite(gap)
        beyond = apart & ~finite.reshape(len(apart), -1).all(axis=1)
        difference.beyond += int(np.count_nonzero(beyond))
        lost = np.isfinite(x) & ~np.isfinite(y)
        difference.introduced += int(np.count_nonzero(lost.reshape(len(apart), -1).any(axis=1)))
        gap = gap[finite]
        largest, squares = _squares(gap)
        x, y = x[finite], y[finite]
    difference.largest, difference.squares = max(difference.largest, largest), difference.squares + squares
    difference.absolute += float(np.add.reduce(np.abs(gap, out=gap), dtype=np.float64))
    most, base = _squares(x)
    difference.base += base
    plain = _NARROW[0] < most < _NARROW[1] and largest < _NARROW[1]  # then squares of y do not overflow either
    difference.beside += float(np.vecdot(y, y)) if plain else _squares(y)[1]
    difference.based += x.size


def _explained(difference: Difference, a: Span, b: Span, values: tuple[Numbers, Numbers], apart: Flags | slice) -> None:
    """Looks whether rounding makes what differs, and on the way all else; what differs by more is known once."""
    if a.dtype not in FLOATS or b.dtype not in FLOATS or a.dtype == "C64":
        difference.changed()
        return
    x, y = values[0][apart], values[1][apart]
    at_once, *known = difference.unrounded
    ways = [past or _unlike(dtype, a, b, *values) for past, dtype in zip(known, THROUGH, strict=True)]
    difference.unrounded = at_once or _unlike("", a, b, x, y), *ways
    if a.dtype == b.dtype:
        difference.far = difference.normal = True
    elif not (difference.far and difference.normal):
        sizes, dtypes = np.maximum(np.abs(x), np.abs(y)), (a.dtype, b.dtype)
        difference.far = difference.far or not (np.abs(y - x) <= half_steps(sizes, dtypes)).all()
        difference.normal = difference.normal or not (sizes < least_normal(dtypes)).all()


def _unlike(way: str, a: Span, b: Span, x: Numbers, y: Numbers) -> bool:
    """Whether some values are others than A's in B's dtype, by way of another one."""
    if a.dtype in (way, b.dtype) and way in ("", a.dtype):
        return True
    made = rounded(b.dtype, rounded(way, x) if way else x)
    unlike = made != y
    if a.dtype == b.dtype:  # then zeros of another sign differ, which no rounding makes
        unlike |= np.signbit(made) != np.signbit(y)
    return bool(unlike.any())


def _apart(a: Span, b: Span, chunk: Bytes, other: Bytes, x: Numbers, y: Numbers) -> Flags:
    """Which elements are not the same: by their bits, or of two dtypes by their values."""
    apart: Flags
    if a.dtype != b.dtype or a.dtype in BLOCKS or BITS[a.dtype] < 8:
        apart = np.not_equal(x, y) & ~(np.isnan(x) & np.isnan(y))
    else:
        codes = f"u{BITS[a.dtype] // 8}"
        apart = np.not_equal(chunk.view(codes), other.view(codes))
    return apart


def _squares(values: Numbers) -> tuple[float, float]:
    """The largest magnitude of some values, NaN or infinity if that is among them, and the sum of their squares."""
    if not values.size:
        return 0.0, 0.0
    largest = float(max(values.max(), -values.min()))
    if not isfinite(largest):
        return largest, 0.0
    if not _NARROW[0] < largest < _NARROW[1]:
        values = values.astype(np.float64)
    return largest, float(np.vecdot(values, values)) if largest < _SQUARED else inf
