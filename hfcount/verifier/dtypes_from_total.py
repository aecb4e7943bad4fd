"""Infers the dtypes of tensors from metadata.total_size, where no header was read."""

from typing import NamedTuple

from hfcount.formats import dtypes
from hfcount.spec.tree.leaves import Leaf

_WIDTHS = (2, 4, 1, 8)  # bytes of one element, the most common in checkpoints first


class Reading(NamedTuple):
    """Widths of weights and of buffers that make total_size come out exactly.

    `weights`, `buffers` and `flags` (masks and indices) are elements, `width` and `buffer_width` bytes per element,
    `flag_bits` bits; `dtype` and `buffer_dtype` are None if several dtypes have that width.
    """

    weights: int
    buffers: int
    width: int
    buffer_width: int
    dtype: str | None
    buffer_dtype: str | None
    flags: int = 0
    flag_bits: int = 8

    def bits(self, leaf: Leaf) -> int:
        """Bits of one element of a leaf's tensors; a mask takes a byte, even where a sum counts a bit."""
        if leaf.whole:
            return max(self.flag_bits, 8)
        return 8 * (self.buffer_width if leaf.kind == "buffer" else self.width)

    @property
    def elements(self) -> int:
        """All elements that are listed."""
        return self.weights + self.buffers + self.flags

    @property
    def flag_dtype(self) -> str | None:
        """The dtype of masks and indices; None if several have that width."""
        return {1: "BOOL", 8 * self.buffer_width: self.buffer_dtype, 64: "I64"}.get(self.flag_bits)

    @property
    def by_dtype(self) -> dict[str, int] | None:
        """Elements by dtype; None if a dtype is unknown."""
        sums: dict[str, int] = {}
        parts = (self.dtype, self.weights), (self.buffer_dtype, self.buffers), (self.flag_dtype, self.flags)
        for dtype, elements in parts:
            if elements and dtype is None:
                return None
            if elements and dtype is not None:
                sums[dtype] = sums.get(dtype, 0) + elements
        return sums

    def __str__(self) -> str:
        text = _product(self.weights, self.width, self.dtype)
        if self.buffers:
            text += f" + {_product(self.buffers, self.buffer_width, self.buffer_dtype)} of buffers"
        if self.flags:
            width = self.flag_bits // 8 or "1/8"  # what writers once took a boolean for
            text += f" + {_product(self.flags, width, self.flag_dtype)} of masks and indices"
        return text


def exact(total_size: int, weights: int, buffers: int, declared: str | None, flags: int = 0) -> Reading | None:
    """The widths that give `total_size`, trying the declared dtype first; None if none does.

    Args:
        total_size: bytes that the index claims.
        weights: elements of the listed parameters and tied copies.
        buffers: elements of the listed buffers, which are stored as F32 or like the weights.
        declared: the config's dtype by the format's name; None if it declares none.
        flags: elements of the listed masks and indices, which are stored like those, as booleans or as integers.
    """
    declared_width = dtypes.width(declared) if declared else None
    for width in dict.fromkeys([declared_width, *_WIDTHS] if declared_width else _WIDTHS):
        for buffer_width in dict.fromkeys((4, width)):
            rest = total_size - weights * width - buffers * buffer_width
            bits = next((bits for bits in (8 * buffer_width, 1, 8, 32, 64) if flags * bits == 8 * rest), None)
            if bits is not None:
                dtype = declared if width == declared_width else _only(width)
                buffer_dtype = "F32" if buffer_width == 4 else dtype
                return Reading(weights, buffers, width, buffer_width, dtype, buffer_dtype, flags, bits)
    return None


def _only(width: int) -> str | None:
    """The dtype of that width, if models are stored in only one."""
    return {4: "F32", 8: "F64"}.get(width)


def _product(elements: int, width: int | str, dtype: str | None) -> str:
    return f"{elements:,} × {width}" + (f" ({dtype})" if dtype else "")
