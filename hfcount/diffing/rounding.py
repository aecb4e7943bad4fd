"""Whether values differ by more than the dtypes that hold them make of them."""

import re
from collections.abc import Mapping

from hfcount.checkpoints.data.difference import THROUGH, Difference
from hfcount.formats.gguf.types import BLOCKS

_DIGITS = re.compile(r"\d+")


Dtypes = tuple[str | None, str | None]
"""Of the first tensor and of the second."""


def others(differences: Mapping[str, tuple[Difference, Dtypes]]) -> tuple[set[str], str]:
    """The tensors that have other values than their dtypes make of the first ones.

    Returns:
        Their keys, and the dtype that all were rounded to on the way, where that explains more; else "".
    """
    ways = [
        {key for key, (by, dtypes) in differences.items() if _is_other(by, dtypes, way)}
        for way in range(1 + len(THROUGH))
    ]
    best = min(range(len(ways)), key=lambda way: len(ways[way]))
    return ways[best], ("", *THROUGH)[best]


def _is_other(by: Difference, dtypes: Dtypes, way: int) -> bool:
    """Of blocks that is told by the root mean square: one of n bits makes at most 2^(1-n) of the values'."""
    limit = sum(2.0 ** (1 - _bits(dtype)) for dtype in dtypes if dtype in BLOCKS)
    if by.identical or by.beyond or not limit:
        return by.beyond > 0 or by.unrounded[way]
    return by.relative > limit if by.relative is not None else by.squares > 0


def _bits(dtype: str) -> int:
    """The bits that its name gives an element of a block."""
    digits = _DIGITS.search(dtype.removeprefix("NV").removeprefix("MX"))
    return int(digits[0]) if digits else 1
