"""What absent keys mean that size nothing, as tests/tools/defaults.py records it of transformers' classes."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hfcount.mapper import json_lines
from hfcount.mapper.reference import declared


@lru_cache(64)
def defaults(kind: str) -> Mapping[str, Any]:
    """The default of each key of a model_type, or of the class of that name; of an unknown one those of all classes."""
    sized = declared(kind).keys
    class_ = json_lines.of_kind(_file(), kind)
    return {**json_lines.of_kind(_file(), "*"), **(class_ or {}), **sized}


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "defaults.json").read_bytes()
