"""The bit layouts of floating-point dtypes: which codes are numbers, and their values.

Sources: IEEE 754 (F16, F32, F64), OCP 8-bit Floating Point 1.0 (E4M3, E5M2), OCP Microscaling Formats 1.0 (F4, F6,
E8M0), and ONNX's float8 page (FNUZ).
"""

from dataclasses import dataclass
from functools import cached_property
from math import frexp, ldexp
from typing import NamedTuple


class Lanes(NamedTuple):
    """Widens elements of fewer than 32 bits to 32-bit floats, several of a word at a time.

    A word is shifted to the left, so that one of its elements is on top, then to the right with its sign, and masked;
    the result is the element's value divided by a power of two.

    Args:
        shifts: bits to the left, for each element of a word.
        back: bits to the right.
        mask: the bits to keep.
        power: the exponent of the power of two to multiply the result by.
    """

    shifts: tuple[int, ...]
    back: int
    mask: int
    power: int


@dataclass(frozen=True)
class Float:
    """A floating-point dtype: sign (if `signed`), exponent and mantissa.

    Args:
        bits: of one element.
        mantissa: bits of the mantissa.
        bias: of the exponent.
        highest: the largest code of a finite number, without its sign.
        infinity: the code of infinity, without its sign; None if there is none.
        signed: whether there is a sign; else a code is an exponent alone, and no code is zero.
        unsigned_zero: whether the code of minus zero is not a number.
    """

    bits: int
    mantissa: int
    bias: int
    highest: int
    infinity: int | None = None
    signed: bool = True
    unsigned_zero: bool = False

    @property
    def sign(self) -> int:
        """The code of minus zero."""
        return 1 << (self.bits - 1)

    def value(self, code: int) -> float:
        """The value of a code, which must be finite."""
        if not self.signed:
            return ldexp(1.0, code - self.bias)
        size = code & (self.sign - 1)
        exponent, fraction = size >> self.mantissa, size & ((1 << self.mantissa) - 1)
        if exponent:
            fraction |= 1 << self.mantissa
        value = ldexp(fraction, max(exponent, 1) - self.bias - self.mantissa)
        return -value if code & self.sign and value else value

    def code(self, value: float) -> int:
        """The code of a power of two; 0 if it is below the smallest normal value, at most the largest code."""
        exponent = frexp(value)[1] - 1 + self.bias
        return min(exponent << self.mantissa, self.highest) if exponent > 0 else 0

    @cached_property
    def lanes(self) -> Lanes:
        """How elements of 8 or 16 bits become 32-bit floats."""
        exponent = self.bits - self.mantissa - self.signed
        back = 8 - exponent + (not self.signed)
        mask = (1 << 31) * self.signed | ((1 << (exponent + self.mantissa)) - 1) << (23 - self.mantissa)
        shifts = tuple(range(32 - self.bits, -1, -self.bits))
        return Lanes(shifts, back, mask, 127 - self.bias)


FLOATS = {
    "F64": Float(64, 52, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000),
    "F32": Float(32, 23, 127, 0x7F7FFFFF, 0x7F800000),
    "F16": Float(16, 10, 15, 0x7BFF, 0x7C00),
    "BF16": Float(16, 7, 127, 0x7F7F, 0x7F80),
    "F8_E4M3": Float(8, 3, 7, 0x7E),
    "F8_E5M2": Float(8, 2, 15, 0x7B, 0x7C),
    "F8_E4M3FNUZ": Float(8, 3, 8, 0x7F, unsigned_zero=True),
    "F8_E5M2FNUZ": Float(8, 2, 16, 0x7F, unsigned_zero=True),
    "F8_E8M0": Float(8, 0, 127, 0xFE, signed=False),
    "F6_E2M3": Float(6, 3, 1, 0x1F),
    "F6_E3M2": Float(6, 2, 3, 0x1F),
    "F4": Float(4, 1, 1, 0x7),
    "C64": Float(32, 23, 127, 0x7F7FFFFF, 0x7F800000),
}
"""By the format's name; C64 is pairs of F32."""

WHOLE = {
    "BOOL": "u1", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "U32": "u4", "I32": "i4", "U64": "u8", "I64": "i8",
}  # fmt: skip
"""Integer dtypes and their numpy codes."""

LIKE_TEXT = 2.0**9
"""What the letters of a text come to at least, as two of them are a 16-bit float; weights are rarely as large."""
