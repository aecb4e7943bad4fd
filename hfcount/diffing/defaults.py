"""What absent keys mean that size nothing, as tests/tools/defaults.py records it of transformers' classes."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hfcount.mapper import lines
from hfcount.mapper.reference import declared, knows


@lru_cache(64)
def defaults(kind: str) -> Mapping[str, Any]:
    """The default of each key of a model_type, or of the class of that name; empty where transformers has no such."""
    sized = declared(kind).keys
    own = lines.of_kind(_file(), kind)
    if own is None and not sized and not knows(kind):
        return {}
    return {**lines.of_kind(_file(), "*"), **(own or {}), **sized}


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "defaults.json").read_bytes()
