"""The tensor types of GGUF, each a block of elements in so many bytes, and the types of its metadata.

Source: llama.cpp's ggml (ggml.h, `ggml_type`; ggml.c, `type_traits`) and gguf 0.19, gguf/constants.py.
"""

from typing import NamedTuple


class Type(NamedTuple):
    """A tensor type: elements and bytes of one block. A row is a whole number of blocks."""

    name: str
    block: int
    bytes: int

    @property
    def bits(self) -> float:
        """Bits of one element."""
        return 8 * self.bytes / self.block


TYPES = {
    number: Type(name, block, size)
    for number, name, block, size in (
        (0, "F32", 1, 4),
        (1, "F16", 1, 2),
        (2, "Q4_0", 32, 18),
        (3, "Q4_1", 32, 20),
        (6, "Q5_0", 32, 22),
        (7, "Q5_1", 32, 24),
        (8, "Q8_0", 32, 34),
        (9, "Q8_1", 32, 36),
        (10, "Q2_K", 256, 84),
        (11, "Q3_K", 256, 110),
        (12, "Q4_K", 256, 144),
        (13, "Q5_K", 256, 176),
        (14, "Q6_K", 256, 210),
        (15, "Q8_K", 256, 292),
        (16, "IQ2_XXS", 256, 66),
        (17, "IQ2_XS", 256, 74),
        (18, "IQ3_XXS", 256, 98),
        (19, "IQ1_S", 256, 50),
        (20, "IQ4_NL", 32, 18),
        (21, "IQ3_S", 256, 110),
        (22, "IQ2_S", 256, 82),
        (23, "IQ4_XS", 256, 136),
        (24, "I8", 1, 1),
        (25, "I16", 1, 2),
        (26, "I32", 1, 4),
        (27, "I64", 1, 8),
        (28, "F64", 1, 8),
        (29, "IQ1_M", 256, 56),
        (30, "BF16", 1, 2),
        (34, "TQ1_0", 256, 54),
        (35, "TQ2_0", 256, 66),
        (39, "MXFP4", 32, 17),
        (40, "NVFP4", 64, 36),
        (41, "Q1_0", 128, 18),
        (42, "Q2_0", 64, 18),
    )
}
"""By the number in the file; those that are missing were removed from llama.cpp, or belong to forks of it."""

BLOCKS = {kind.name: kind for kind in TYPES.values() if kind.block > 1}
"""Quantised types, by name."""

VALUES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Types of metadata of a fixed width, by their codes for struct."""

STRING, ARRAY = 8, 9

KINDS = dict(enumerate(("u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "arr", "u64", "i64", "f64")))
"""Types of metadata as llama.cpp calls them."""
