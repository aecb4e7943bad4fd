"""Decodes stored bytes to arrays of 32-bit or 64-bit floats."""

from functools import cache
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from hfcount.checkpoints.data.dequantize import READ, dequantized
from hfcount.checkpoints.data.float_formats import FLOATS, WHOLE
from hfcount.checkpoints.data.runs import Bytes

Numbers = NDArray[np.floating]

_PLAIN = {"F64": "f8", "F32": "f4", "F16": "f2", "C64": "f4"} | WHOLE
"""Dtypes that numpy knows by itself."""

WIDE = frozenset(("F64", "I32", "U32", "I64", "U64"))
"""Dtypes with values that 32-bit floats do not hold."""


def decoded(dtype: str, raw: Bytes, wide: bool) -> Numbers:
    """The values in the order in which they are stored; of complex numbers, both parts of each.

    Args:
        wide: whether to return 64-bit floats instead of 32-bit ones.
    """
    if dtype == "BF16":
        halves = np.zeros(raw.size, np.uint16)
        halves[1::2] = raw.view(np.uint16)
        values: Numbers = halves.view(np.float32)
    elif dtype in READ:
        values = dequantized(dtype, raw)
    elif dtype in _PLAIN:
        values = raw.view(_PLAIN[dtype])
    else:
        values = np.take(_table(dtype), _codes(dtype, raw))
    return values.astype(np.float64 if wide else np.float32, copy=False)


@cache
def _table(dtype: str) -> NDArray[np.float32]:
    """The values of all codes of at most 8 bits."""
    kind = FLOATS[dtype]
    return np.array([_value(dtype, code) for code in range(1 << kind.bits)], np.float32)


def _value(dtype: str, code: int) -> float:
    kind = FLOATS[dtype]
    size = code & (kind.sign - 1) if kind.signed else code
    if size == kind.infinity:
        return -inf if code & kind.sign else inf
    return nan if size > kind.highest or (kind.unsigned_zero and code == kind.sign) else kind.value(code)


def _codes(dtype: str, raw: Bytes) -> Bytes:
    """The codes of elements of at most 8 bits; narrower ones are packed from the lowest bit on."""
    bits = FLOATS[dtype].bits
    if bits == 8:
        return raw
    if bits == 4:
        return np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)
    first, second, third = (raw[place::3] for place in range(3))
    codes = [first & 63, first >> 6 | (second & 15) << 2, second >> 4 | (third & 3) << 4, third >> 2]
    return np.stack(codes, axis=1).reshape(-1)
