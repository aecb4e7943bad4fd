"""What can be asked of a report, by itself: the command line offers it before it imports what answers."""

import re
from typing import Literal

AskedDepth = Literal["auto", "config", "index", "headers"]
"""How far to look; `auto` reads headers where the index does not settle it."""

Depth = Literal["config", "index", "headers"]
"""How far a run looked."""

Extra = Literal["tensors", "formula", "layers"]
"""Fields of the report that are filled in where they are asked for."""

DerivedWith = Literal["transformers"]
"""What may give names and shapes of a type that no family describes."""

CACHE_DTYPES = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int8")
"""What keys and values may be cached in."""

_UNITS = {"": 1} | {
    f"{letter}{binary}b": (1024 if binary else 1000) ** power
    for power, letter in enumerate("kmgt", 1)
    for binary in ("i", "")
}


def bytes_in(text: str) -> int | None:
    """The bytes of an amount such as 80GiB, 80 GB or 24576MiB; None if it is none."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([a-z]*)", text.lower().replace(",", "").replace("_", ""))
    return int(float(found[1]) * _UNITS.get(found[2], 0)) or None if found else None
