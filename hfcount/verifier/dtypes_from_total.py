"""Infers the dtypes of tensors from metadata.total_size, where no header was read."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from hfcount.formats import dtypes
from hfcount.spec.tree.leaves import Leaf

if TYPE_CHECKING:
    from hfcount.verifier.float32_rows import Float32Rows

_WIDTHS = (2, 4, 1, 8)  # bytes of one element, the most common in checkpoints first


class Reading(NamedTuple):
    """Widths of weights and of buffers that make total_size come out exactly.

    `weights`, `buffers` and `flags` (masks and indices) are elements, `width` and `buffer_width` bytes per element,
    `flag_bits` bits; `dtype` and `buffer_dtype` are None if several dtypes have that width. `float32` are weights that
    are wider than the others.
    """

    weights: int
    buffers: int
    width: int
    buffer_width: int
    dtype: str | None
    buffer_dtype: str | None
    flags: int = 0
    flag_bits: int = 8
    float32: "Float32Rows | None" = None

    def bits(self, leaf: Leaf) -> int:
        """Bits of one element of a leaf's tensors; a mask takes a byte, even where a sum counts a bit."""
        if leaf.whole:
            return max(self.flag_bits, 8)
        if self.float32 and leaf.name in self.float32.leaves:
            return 32
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
        wide = self.float32.elements if self.float32 else 0
        parts = [(self.dtype, self.weights - wide), (self.buffer_dtype, self.buffers), (self.flag_dtype, self.flags)]
        parts.append(("F32", wide))
        for dtype, elements in parts:
            if elements and dtype is None:
                return None
            if elements and dtype is not None:
                sums[dtype] = sums.get(dtype, 0) + elements
        return sums

    def __str__(self) -> str:
        wide = self.float32.elements if self.float32 else 0
        text = _product(self.weights - wide, self.width, self.dtype)
        if self.float32:
            text += f" + {_product(wide, 4, 'F32')}, since {self.float32.who}"
        if self.buffers:
            text += f" + {_product(self.buffers, self.buffer_width, self.buffer_dtype)} of buffers"
        if self.flags:
            width = self.flag_bits // 8 or "1/8"  # what writers once took a boolean for
            text += f" + {_product(self.flags, width, self.flag_dtype)} of masks and indices"
        return text


def exact(
    total_size: int,
    weights: int,
    buffers: int,
    declared: str | None,
    flags: int = 0,
    wider: Callable[[], Iterable["Float32Rows"]] = tuple,
) -> Reading | None:
    """The widths that give `total_size`, trying the declared dtype first; None if none does.

    Args:
        total_size: bytes that the index claims.
        weights: elements of the listed parameters and tied copies.
        buffers: elements of the listed buffers, which are stored as F32 or like the weights.
        declared: the config's dtype by the format's name; None if it declares none.
        flags: elements of the listed masks and indices, which are stored like those, as booleans or as integers.
        wider: gives weights that may be float32 where the others are of the declared dtype.
    """
    declared_width = dtypes.width(declared) if declared else None
    for width in dict.fromkeys([declared_width, *_WIDTHS] if declared_width else _WIDTHS):
        dtype = declared if width == declared_width else _only(width)
        if reading := _at(total_size, (weights, buffers, flags), width, dtype):
            return reading
        for rows in wider() if width == declared_width and width < 4 else ():
            size = total_size - (4 - width) * rows.elements
            if reading := _at(size, (weights, buffers, flags), width, dtype):
                return reading._replace(float32=rows)
    return None


def _at(size: int, elements: tuple[int, int, int], width: int, dtype: str | None) -> Reading | None:
    """The reading that gives `size` at this width of weights; None if none does."""
    weights, buffers, flags = elements
    for buffer_width in dict.fromkeys((4, width)):
        rest = size - weights * width - buffers * buffer_width
        bits = next((bits for bits in (8 * buffer_width, 1, 8, 32, 64) if flags * bits == 8 * rest), None)
        if bits is not None:
            buffer_dtype = "F32" if buffer_width == 4 else dtype
            return Reading(weights, buffers, width, buffer_width, dtype, buffer_dtype, flags, bits)
    return None


def _only(width: int) -> str | None:
    """The dtype of that width, if models are stored in only one."""
    return {4: "F32", 8: "F64"}.get(width)


def _product(elements: int, width: int | str, dtype: str | None) -> str:
    return f"{elements:,} × {width}" + (f" ({dtype})" if dtype else "")
