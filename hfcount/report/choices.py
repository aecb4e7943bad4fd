"""What can be asked of a report, by itself: the command line offers it before it imports what answers."""

from typing import Literal

AskedDepth = Literal["auto", "config", "index", "headers"]
"""How far to look; `auto` reads headers where the index does not settle it."""

DerivedWith = Literal["transformers"]
"""What may give names and shapes of a type that no family describes."""

CACHE_DTYPES = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int8")
"""What keys and values may be cached in."""
