"""Defaults of config keys that bear on no shape, recorded from transformers by tests/tools/defaults.py."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from hfcount.mapper import json_lines
from hfcount.mapper.class_defaults import declared


@lru_cache(64)
def defaults(kind: str) -> Mapping[str, Any]:
    """Defaults by key for a model_type or class name; those common to all classes if unknown."""
    sized = declared(kind).keys
    class_ = json_lines.of_kind(_file(), kind)
    return {**json_lines.of_kind(_file(), "*"), **(class_ or {}), **sized}


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "defaults.json").read_bytes()
