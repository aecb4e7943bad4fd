"""Locates the scales in blocks of GGUF's quantised types.

The values of a block are integers times its scales, so that only scales can be NaN or infinite; llama.cpp's
--check-tensors checks the same. Source: ggml, ggml-common.h (the structures of blocks) and ggml-quants.c
(`ggml_validate_row_data`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfcount.formats.gguf.types import BLOCKS

Bytes = NDArray[np.uint8]


class Scales(NamedTuple):
    """The scales of a block: their dtype, first byte and number."""

    dtype: str
    begin: int
    each: int = 1


_SCALES = {
    "F16": {
        **dict.fromkeys(("Q4_0", "Q5_0", "Q8_0", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL"), (0, 1)),
        **dict.fromkeys(("IQ3_S", "IQ2_S", "IQ4_XS", "Q1_0", "Q2_0"), (0, 1)),
        **dict.fromkeys(("Q4_1", "Q5_1", "Q8_1", "Q4_K", "Q5_K"), (0, 2)),  # and what is added
        "Q2_K": (80, 2),
        "Q3_K": (108, 1),
        "Q6_K": (208, 1),
        "TQ1_0": (52, 1),
        "TQ2_0": (64, 1),
    },
    "F32": {"Q8_K": (0, 1)},
    "F8_E8M0": {"MXFP4": (0, 1)},
    "U8": {"NVFP4": (0, 4)},  # ggml reads what is NaN in E4M3 as 0
}
"""By their dtype and the name of the type."""

_IN_BITS, _IN_BITS_BEGIN = "IQ1_M", 48
"""The type whose scale is in the highest four bits of each of four words, and where these begin."""

SCALES = {name: Scales(dtype, *place) for dtype, some in _SCALES.items() for name, place in some.items()} | {
    _IN_BITS: Scales("F16", _IN_BITS_BEGIN)
}
"""By the name of the type."""

_WIDTHS = {"F16": 2, "F32": 4, "F8_E8M0": 1, "U8": 1}


def scales(dtype: str, raw: Bytes) -> tuple[str, Bytes]:
    """The dtype of the scales of whole blocks, and their bytes in order."""
    rows, where = raw.reshape(-1, BLOCKS[dtype].bytes), SCALES[dtype]
    if dtype == _IN_BITS:
        words = np.ascontiguousarray(rows[:, where.begin :]).view("<u2")
        parts = [(words[:, place] & 0xF000) >> (12 - 4 * place) for place in range(4)]
        return where.dtype, (parts[0] | parts[1] | parts[2] | parts[3]).view(np.uint8)
    end = where.begin + where.each * _WIDTHS[where.dtype]
    return where.dtype, np.ascontiguousarray(rows[:, where.begin : end]).reshape(-1)
