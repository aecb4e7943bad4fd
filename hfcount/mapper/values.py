"""Which values transformers' configuration classes take, as recorded in values.json by tests/values.py."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

ABSENT: Any = object()
"""Stands for the value of a key that is not there, and has to be."""

Problem = tuple[str, Any, str]
"""A key below a config, what it holds, and what it has to hold."""

Limits = tuple[float | None, float | None, bool, bool]
"""The least and most that a number may be, and whether each of them is itself excluded."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one class takes; empty for a class that transformers does not have.

    Args:
        types: the type of each key, such as `int|list[int]|null`; keys that take anything are left out.
        limits: bounds of numbers.
        rope: whether it has rotary positions of its own.
        activations: keys that name an activation.
        dropouts: keys that hold the share of a dropout.
        fixed: keys that the class alone sets, and that no config may have.
        kinds: lists of kinds of layers that may hold no others than transformers names.
        rotates: kinds of these beside those of all classes, where its models look up by them how to make them.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Limits] = field(default_factory=dict)
    rope: bool = False
    activations: frozenset[str] = frozenset()
    dropouts: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    rotates: frozenset[str] = frozenset()


@lru_cache(64)
def taken(kind: str) -> Taken | None:
    """What the class of a model_type takes, or the class of that name; None if transformers does not have it."""
    start = _text().find(f"\n{json.dumps(kind)}: ") if kind else -1
    if start < 0:
        return None
    row, _ = json.JSONDecoder().raw_decode(_text(), _text().index("{", start))
    types = {key: said for said, keys in row.get("types", {}).items() for key in keys.split()}
    limits = {key: (least, most, *out) for key, (least, most, *out) in row.get("limits", {}).items()}
    words = (frozenset(row.get(name, "").split()) for name in ("activations", "dropouts", "fixed", "kinds", "rotates"))
    return Taken(types, limits, row.get("rope", False), *words)


def shared(name: str) -> tuple[str, ...]:
    """Words that all classes share, such as the `activations` that there are."""
    return tuple(_shared()[name].split())


@cache
def _shared() -> Mapping[str, str]:
    found: Mapping[str, str]
    found, _ = json.JSONDecoder().raw_decode(_text(), _text().index("{", 1))
    return found


@cache
def _text() -> str:
    return (Path(__file__).parent / "values.json").read_text()
