"""Dequantises GGUF blocks to 32-bit floats.

A value is an integer of few bits times the scale of its group, plus a minimum in some types. Types whose
numbers stand in tables of their own (IQ1, IQ2, IQ3), and rare ones, are not read. Source: ggml, ggml-common.h (the
structures of blocks) and ggml-quants.c (`dequantize_row_*`).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hfcount.checkpoints.data.runs import Bytes
from hfcount.formats.gguf.types import BLOCKS

Floats = NDArray[np.float32]
Rows = NDArray[np.uint8]
"""Blocks, one a row."""

_NIBBLES = (0, 4)
_PAIRS = (0, 2, 4, 6)
_BITS = tuple(range(8))

_CURVED = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
"""The values of IQ4's codes."""

_DOUBLED = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
"""The values of MXFP4's codes, times two."""


def dequantized(dtype: str, raw: Bytes) -> Floats:
    """The values of whole blocks, in their order.

    Args:
        dtype: one of `READ`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return READ[dtype](raw.reshape(-1, BLOCKS[dtype].bytes)).astype(np.float32, copy=False).reshape(-1)


def _half(rows: Rows, begin: int) -> Floats:
    """The 16-bit float at a byte of each block."""
    return np.ascontiguousarray(rows[:, begin : begin + 2]).view("<f2").astype(np.float32)


def _codes(rows: Rows, begin: int, end: int, wide: int, shifts: Sequence[int]) -> NDArray[np.int16]:
    """The numbers in some bytes of each block: of every `wide` bytes first their lowest bits, then the next."""
    bits = 8 // len(shifts)
    parts = rows[:, begin:end].reshape(len(rows), -1, 1, wide)
    codes = parts >> np.array(shifts, np.uint8).reshape(1, 1, -1, 1) & np.uint8((1 << bits) - 1)
    return codes.reshape(len(rows), -1).astype(np.int16)


def _five(rows: Rows, begin: int) -> NDArray[np.int16]:
    """The 32 numbers of 5 bits whose highest bits stand in the 4 bytes before the others."""
    high = np.unpackbits(rows[:, begin : begin + 4], axis=1, bitorder="little")
    return _codes(rows, begin + 4, begin + 20, 16, _NIBBLES) | high.astype(np.int16) << 4


def _grouped(scales: NDArray[np.floating], codes: NDArray[np.int16]) -> Floats:
    """Numbers times the scale of their group, of which a block has as many as it has scales."""
    groups = codes.reshape(*scales.shape, -1)
    return np.asarray(scales[..., None].astype(np.float32) * groups.astype(np.float32)).reshape(len(codes), -1)


def _six(rows: Rows, begin: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """The 8 scales and the 8 minimums of 6 bits in 12 bytes: of the last four of each, the highest bits are apart."""
    first, second, third = (rows[:, begin + at : begin + at + 4].astype(np.int16) for at in (0, 4, 8))
    scales = np.concatenate([first & 63, (third & 15) | (first >> 6) << 4], axis=1)
    return scales, np.concatenate([second & 63, third >> 4 | (second >> 6) << 4], axis=1)


def _q4_k(rows: Rows) -> Floats:
    scales, minimums = _six(rows, 4)
    return _from_minimums(rows, 0, scales, minimums, _codes(rows, 16, 144, 32, _NIBBLES))


def _q5_k(rows: Rows) -> Floats:
    scales, minimums = _six(rows, 4)
    codes = _codes(rows, 48, 176, 32, _NIBBLES) | _codes(rows, 16, 48, 32, _BITS) << 4
    return _from_minimums(rows, 0, scales, minimums, codes)


def _q2_k(rows: Rows) -> Floats:
    both = rows[:, :16].astype(np.int16)
    return _from_minimums(rows, 80, both & 15, both >> 4, _codes(rows, 16, 80, 32, _PAIRS))


def _from_minimums(
    rows: Rows, begin: int, scales: NDArray[np.int16], minimums: NDArray[np.int16], codes: NDArray[np.int16]
) -> Floats:
    """Numbers times a scale, less the minimum of their group; two 16-bit floats scale the scales and the minimums."""
    values = _grouped(_half(rows, begin) * scales, codes)
    less = _half(rows, begin + 2) * minimums
    return np.asarray(values - np.repeat(less, codes.shape[1] // less.shape[1], axis=1))


def _q3_k(rows: Rows) -> Floats:
    low, high = _codes(rows, 96, 104, 8, _NIBBLES), _codes(rows, 104, 108, 4, _PAIRS)
    codes = _codes(rows, 32, 96, 32, _PAIRS) - 4 * (1 - _codes(rows, 0, 32, 32, _BITS))
    return _grouped(_half(rows, 108) * ((low | high << 4) - 32), codes)


def _q6_k(rows: Rows) -> Floats:
    codes = (_codes(rows, 0, 128, 64, _NIBBLES) | _codes(rows, 128, 192, 32, _PAIRS) << 4) - 32
    return _grouped(_half(rows, 208) * rows[:, 192:208].view(np.int8), codes)


def _curved(codes: NDArray[np.int16]) -> NDArray[np.int16]:
    return np.take(np.array(_CURVED, np.int16), codes)


def _iq4_xs(rows: Rows) -> Floats:
    low, high = _codes(rows, 4, 8, 1, _NIBBLES), _codes(rows, 2, 4, 1, _PAIRS)
    return _grouped(_half(rows, 0) * ((low | high << 4) - 32), _curved(_codes(rows, 8, 136, 16, _NIBBLES)))


def _mxfp4(rows: Rows) -> Floats:
    scales = np.ldexp(np.float32(1), rows[:, :1].astype(np.int32) - 128)  # half, since the numbers are doubled
    codes = np.take(np.array(_DOUBLED, np.int16), _codes(rows, 1, 17, 16, _NIBBLES))
    return _grouped(scales, codes)


READ: dict[str, Callable[[Rows], Floats]] = {
    "Q4_0": lambda rows: _half(rows, 0) * (_codes(rows, 2, 18, 16, _NIBBLES) - 8),
    "Q4_1": lambda rows: _half(rows, 0) * _codes(rows, 4, 20, 16, _NIBBLES) + _half(rows, 2),
    "Q5_0": lambda rows: _half(rows, 0) * (_five(rows, 2) - 16),
    "Q5_1": lambda rows: _half(rows, 0) * _five(rows, 4) + _half(rows, 2),
    "Q8_0": lambda rows: _half(rows, 0) * rows[:, 2:].view(np.int8),
    "Q2_K": _q2_k,
    "Q3_K": _q3_k,
    "Q4_K": _q4_k,
    "Q5_K": _q5_k,
    "Q6_K": _q6_k,
    "IQ4_NL": lambda rows: _half(rows, 0) * _curved(_codes(rows, 2, 18, 16, _NIBBLES)),
    "IQ4_XS": _iq4_xs,
    "MXFP4": _mxfp4,
}
"""The function that dequantises the blocks of a type, by its name."""
