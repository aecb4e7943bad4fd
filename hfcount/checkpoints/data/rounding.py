"""Rounds values to a narrower dtype: to nearest, ties to even."""

from collections.abc import Iterable
from math import ldexp

import numpy as np

from hfcount.checkpoints.data.decode import Numbers
from hfcount.checkpoints.data.float_formats import FLOATS, Float

_PLAIN = {"F64": np.float64, "F32": np.float32, "F16": np.float16}
_LOST = 16  # bits of a 32-bit float that BF16 has not


def rounded(dtype: str, values: Numbers) -> Numbers:
    """The values as a dtype of floats holds them, as 32-bit or 64-bit floats; those of other dtypes as they are.

    What is larger than all values of an 8-bit dtype, or of a narrower one, becomes the largest, as casts that saturate
    have it.
    """
    kind = FLOATS.get(dtype)
    if dtype in _PLAIN:
        return values.astype(_PLAIN[dtype], copy=False).astype(values.dtype, copy=False)
    if dtype == "BF16":
        codes = values.astype(np.float32).view(np.uint32)
        finite = np.isfinite(values)
        up = np.where(finite, np.uint32((1 << (_LOST - 1)) - 1) + (codes >> np.uint32(_LOST) & np.uint32(1)), 0)
        kept = (codes + up.astype(np.uint32)) & np.uint32(0xFFFF0000)
        return np.where(finite, kept.view(np.float32), values).astype(values.dtype, copy=False)
    return _narrow(kind, values) if kind and kind.signed and kind.bits <= 8 else values


def half_steps(sizes: Numbers, dtypes: Iterable[str]) -> Numbers:
    """How far values of these sizes are at most from an original that was rounded to each of some dtypes, added."""
    computed = FLOATS[f"F{8 * sizes.itemsize}"]
    codes = np.ascontiguousarray(sizes).view(f"u{sizes.itemsize}")
    powers = (codes & codes.dtype.type(computed.infinity or 0)).view(sizes.dtype)  # of two, not above
    steps = np.zeros_like(sizes)
    for kind in (FLOATS[dtype] for dtype in dtypes):
        steps += np.maximum(powers, ldexp(1.0, 1 - kind.bias)) * ldexp(1.0, -kind.mantissa - 1)
    return steps


def least_normal(dtypes: Iterable[str]) -> float:
    """The least magnitude that all of these dtypes hold with all their bits."""
    return max(ldexp(1.0, 1 - FLOATS[dtype].bias) for dtype in dtypes)


def _narrow(kind: Float, values: Numbers) -> Numbers:
    exponents = np.maximum(np.frexp(values)[1] - 1, 1 - kind.bias) - kind.mantissa
    steps = np.ldexp(np.ones_like(values), exponents)
    most = kind.value(kind.highest)
    nearest: Numbers = np.clip(np.rint(values / steps) * steps, -most, most)
    return nearest
