"""Counts the values of a chunk of bytes, in few passes over the processor's cache.

Floats are compared as integers: codes grow with the magnitude of their values, so that the largest code read with
a sign is the largest value, the largest read without one is the most negative value, and both tell whether a NaN or an
infinity is there at all. Only then are they looked for one by one.
"""

from dataclasses import replace
from math import frexp, inf, ldexp, nan

import numpy as np
from numpy.typing import NDArray

from hfcount.checkpoints.data.block_scales import SCALES, scales
from hfcount.checkpoints.data.float_formats import FLOATS, WHOLE, Float, Lanes
from hfcount.checkpoints.data.runs import ONES, ROW, Bytes, Run
from hfcount.checkpoints.data.tally import Spot, Tally
from hfcount.formats.gguf.types import BLOCKS

CHUNK = 9 << 16
"""Bytes that are read at once: with as many for what they become, they fit the cache of a core; whole 6-bit codes."""

_PAGES = 4 << 20
"""Bytes that are reserved for the buffers of a thread: of so many, numpy asks for large pages."""

_PAGE = 2 << 20  # bytes of a large one

_POWERS = range(-40, 50)  # of two: outside of these, squares of 32-bit floats are too large or too small

_LARGEST = {4: 126, 8: 1000}  # powers of two that a float of so many bytes holds, on either side


class Chunks:
    """Counts chunks in its own buffers; each thread has one."""

    def __init__(self) -> None:
        pages: Bytes = np.empty(_PAGES, np.uint8)
        pages = pages[-pages.ctypes.data % _PAGE :]
        self.bytes = pages[:CHUNK]
        self._words = pages[CHUNK : 2 * CHUNK].view(np.uint32)

    def run(self, dtype: str) -> Run | None:
        """A run that counts chunks that fill `bytes`; None if each has to be counted by itself."""
        kind = FLOATS.get(dtype)
        return (
            Run(dtype, self.bytes, self._words) if kind and kind.bits >= 8 and kind.signed and dtype != "C64" else None
        )

    def count(self, dtype: str, raw: Bytes) -> Tally:
        """The tally of the values in `raw`, which begins in `bytes` or is as well aligned."""
        if dtype in BLOCKS:
            return self._blocks(dtype, raw)
        if dtype in WHOLE:
            return _whole(raw.view(WHOLE[dtype]))
        kind = FLOATS[dtype]
        if kind.bits < 8:
            return _by_code(kind, np.bincount(_codes(raw, kind.bits), minlength=1 << kind.bits))
        tally = self._floats(kind, raw)
        return tally if dtype != "C64" else _pairs(tally, raw)

    def _blocks(self, dtype: str, raw: Bytes) -> Tally:
        """The tally of the scales of quantised blocks; spots are numbered by the block's first element."""
        tally, block = self.count(*scales(dtype, raw)), BLOCKS[dtype].block

        def placed(spot: Spot | None) -> Spot | None:
            return spot and spot._replace(number=spot.number // SCALES[dtype].each * block)

        return replace(tally, first_nan=placed(tally.first_nan), first_infinite=placed(tally.first_infinite))

    def _floats(self, kind: Float, raw: Bytes) -> Tally:
        codes = raw.view(f"u{kind.bits // 8}")
        if not codes.size:
            return Tally()
        signed = codes.view(f"i{kind.bits // 8}")
        top, far = int(np.maximum.reduce(signed)), int(np.maximum.reduce(codes))
        lowest = int(np.minimum.reduce(signed)) if far >= kind.sign else 0
        if _special(kind, top, far, lowest):
            return self._specials(kind, codes)
        nearest = int(np.minimum.reduce(codes))
        tally = Tally(codes.size)
        if not kind.signed:
            tally.least, tally.most = kind.value(nearest), kind.value(far)
        else:
            tally.zeros = codes.size - int(np.count_nonzero(codes)) if nearest == 0 else 0
            if lowest == -kind.sign:  # minus zero
                tally.zeros += int(np.count_nonzero(codes == kind.sign))
            tally.most = kind.value(top if top >= 0 else nearest)
            tally.least = kind.value(far if far >= kind.sign else nearest)
        self._sum(kind, raw, tally)
        return tally

    def _specials(self, kind: Float, codes: NDArray[np.unsignedinteger]) -> Tally:
        """The tally of a chunk with values that are NaN or infinite."""
        size = codes & (kind.sign - 1) if kind.signed else codes
        bad = codes == kind.sign if kind.unsigned_zero else size > kind.highest
        places = np.flatnonzero(bad)
        rest = np.zeros(-(-(codes.size - places.size) * kind.bits // 32) * 4, np.uint8)
        finite = rest.view(codes.dtype)[: codes.size - places.size]
        finite[:] = codes[~bad]
        tally = self._floats(kind, finite.view(np.uint8))
        for place in places[np.unique(size[places] == kind.infinity, return_index=True)[1]]:  # the first of either
            spot, is_infinite = Spot(int(place), int(codes[place])), int(size[place]) == kind.infinity
            tally.first_infinite, tally.first_nan = (
                (spot, tally.first_nan) if is_infinite else (tally.first_infinite, spot)
            )
        tally.infinite = 0 if kind.infinity is None else int(np.count_nonzero(size == kind.infinity))
        tally.count, tally.nan = codes.size, places.size - tally.infinite
        return tally

    def _sum(self, kind: Float, raw: Bytes, tally: Tally) -> None:
        """The sums of values and of their squares, in units that neither overflow nor vanish."""
        tally.summed = tally.count
        largest = max(abs(tally.least), abs(tally.most))
        power = frexp(largest)[1]
        shift = 0 if power in _POWERS or not largest else power
        if kind.bits >= 32:
            parts = iter([self._shifted(raw.view(f"f{kind.bits // 8}"), -shift)])
        else:
            words = _words(raw)
            lanes = kind.lanes
            out = self._words[: words.size]
            each = (_lane(words, by, lanes, out) for by in lanes.shifts)
            parts = (self._shifted(lane, lanes.power - shift) for lane in each)
        for part in parts:
            total, squares = _sums(part)
            tally.total, tally.squares = tally.total + total, tally.squares + squares
        if shift:
            tally.total, tally.squares = _scaled(tally.total, shift), _scaled(tally.squares, 2 * shift)

    def _shifted(self, values: NDArray[np.floating], power: int) -> NDArray[np.floating]:
        """The values times a power of two."""
        if not power:
            return values
        out = self._words[: values.nbytes // 4].view(values.dtype)
        if abs(power) > _LARGEST[values.itemsize]:
            np.multiply(values, values.dtype.type(ldexp(1.0, power // 2)), out=out)
            values, power = out, power - power // 2
        np.multiply(values, values.dtype.type(ldexp(1.0, power)), out=out)
        return out


def step(dtype: str) -> int:
    """Bytes that are read at once: at most a chunk, and whole blocks."""
    return CHUNK // BLOCKS[dtype].bytes * BLOCKS[dtype].bytes if dtype in BLOCKS else CHUNK


def _special(kind: Float, top: int, far: int, lowest: int) -> bool:
    """Whether some code is NaN or infinite, by the largest ones."""
    if kind.unsigned_zero:
        return lowest == -kind.sign
    if not kind.signed:
        return far > kind.highest
    return top > kind.highest or far > kind.sign | kind.highest


def _words(raw: Bytes) -> NDArray[np.uint32]:
    """Some bytes as words; of a last one that is not whole the rest is zero."""
    if raw.size % 4:
        raw = np.concatenate([raw, np.zeros(-raw.size % 4, np.uint8)])
    return raw.view(np.uint32)


def _lane(words: NDArray[np.uint32], by: int, lanes: Lanes, out: NDArray[np.uint32]) -> NDArray[np.float32]:
    """One element of each word, as 32-bit floats."""
    if by:
        words = np.left_shift(words, np.uint32(by), out=out)
    if lanes.back:
        np.right_shift(words.view(np.int32), np.int32(lanes.back), out=out.view(np.int32))
        words = out
    if lanes.back or not by:
        np.bitwise_and(words, np.uint32(lanes.mask), out=out)
    return out.view(np.float32)


def _sums(values: NDArray[np.floating]) -> tuple[float, float]:
    """The sum of some values, and that of their squares: as products of vectors, which is fastest."""
    rows, ones = values.size // ROW, ONES[values.itemsize]
    total = squares = 0.0
    parts: list[NDArray[np.floating]] = [values[: rows * ROW].reshape(rows, ROW), values[rows * ROW :]]
    for part in parts:
        if part.size:
            total += _added(np.vecdot(part, ones[: part.shape[-1]]))
            squares += _added(np.vecdot(part, part))
    return total, squares


def _added(products: NDArray[np.floating]) -> float:
    return float(sum(products.reshape(-1).tolist()))


def _scaled(value: float, power: int) -> float:
    try:
        return ldexp(value, power)
    except OverflowError:
        return inf


def _whole(values: NDArray[np.integer]) -> Tally:
    if not values.size:
        return Tally()
    least, most = int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
    return Tally(values.size, values.size - int(np.count_nonzero(values)), least=least, most=most)


def _codes(raw: Bytes, bits: int) -> Bytes:
    """Codes of 4 or 6 bits, packed from the lowest bit on."""
    if bits == 4:
        return np.concatenate([raw & 15, raw >> 4])
    first, second, third = (raw[place::3] for place in range(3))
    last = third >> 2
    return np.concatenate([first & 63, first >> 6 | (second & 15) << 2, second >> 4 | (third & 3) << 4, last])


def _by_code(kind: Float, counts: NDArray[np.intp]) -> Tally:
    """The figures of values that are all finite, by how often each code is there."""
    tally = Tally(int(counts.sum()))
    for code in map(int, np.flatnonzero(counts)):
        value, many = kind.value(code), int(counts[code])
        tally.least, tally.most = min(tally.least, value), max(tally.most, value)
        tally.total += many * value
        tally.squares += many * value * value
        tally.zeros += many if not value else 0
    tally.summed = tally.count
    return tally


def _pairs(parts: Tally, raw: Bytes) -> Tally:
    """The tally of complex numbers from that of their parts; `least` and `most` are those of the parts."""
    values = raw.view(np.complex64)
    return replace(
        parts,
        count=values.size,
        zeros=values.size - int(np.count_nonzero(values)),
        total=nan,
        summed=parts.summed // 2,
        first_nan=_halved(parts.first_nan),
        first_infinite=_halved(parts.first_infinite),
    )


def _halved(spot: Spot | None) -> Spot | None:
    return spot and spot._replace(number=spot.number // 2)
