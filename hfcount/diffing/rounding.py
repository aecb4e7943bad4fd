"""Decides whether values differ by more than rounding to their dtypes."""

import re
from collections.abc import Mapping

from hfcount.checkpoints.data.difference import THROUGH, Difference
from hfcount.formats.gguf.types import BLOCKS

_DIGITS = re.compile(r"\d+")


Dtypes = tuple[str | None, str | None]
"""The dtypes of the first and the second tensor."""


def others(differences: Mapping[str, tuple[Difference, Dtypes]]) -> tuple[set[str], str]:
    """Tensors whose values differ by more than rounding.

    Returns:
        Their keys, and an intermediate dtype that explains more differences, if any; else "".
    """
    ways = [
        {key for key, (by, dtypes) in differences.items() if _is_other(by, dtypes, way)}
        for way in range(1 + len(THROUGH))
    ]
    best = min(range(len(ways)), key=lambda way: len(ways[way]))
    return ways[best], ("", *THROUGH)[best]


def _is_other(by: Difference, dtypes: Dtypes, way: int) -> bool:
    """Block dtypes are judged by root mean square: n bits cause at most 2^(1-n) of the values'."""
    limit = sum(2.0 ** (1 - _bits(dtype)) for dtype in dtypes if dtype in BLOCKS)
    if by.identical or by.beyond or not limit:
        return by.beyond > 0 or by.unrounded[way]
    return by.relative > limit if by.relative is not None else by.squares > 0


def _bits(dtype: str) -> int:
    """The bits for each element of a block dtype, from its name."""
    digits = _DIGITS.search(dtype.removeprefix("NV").removeprefix("MX"))
    return int(digits[0]) if digits else 1
