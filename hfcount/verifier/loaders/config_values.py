"""Looks up values of a config by the full path of their keys, and keys that no config of transformers may have."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from hfcount.mapper import json_lines

ABSENT: Final = object()
"""What a key has that is not there."""


def value_at(values: Mapping[str, Any], path: str) -> Any:
    """The value of a key by its full path, such as `text_config.hidden_size`; ABSENT if it is not there."""
    value: Any = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return ABSENT
        value = value[key]
    return value


def refused_keys(version: str) -> frozenset[str]:
    """The keys by which a version of transformers refuses a config whatever they hold (tests/tools/config_keys.py)."""
    return _recorded(version, "refused")


def with_experts(version: str) -> frozenset[str]:
    """The types whose experts a version can compute by a chosen implementation; empty where that is not recorded."""
    return _recorded(version, "experts")


def with_pruning(version: str) -> frozenset[str]:
    """The types whose classes can prune heads in a version; empty where that is not recorded."""
    return _recorded(version, "prune")


def without_activations(version: str) -> frozenset[str]:
    """The activations that the newest version has, and this one has not."""
    return _recorded(version, "no_activation")


def without_kernel(version: str, kernel: str) -> frozenset[str]:
    """The types that refuse a kind of kernel of attention in a version: `no_sdpa`, `no_flash` or `no_flex`."""
    return _recorded(version, kernel)


@cache
def _recorded(version: str, what: str) -> frozenset[str]:
    row = json_lines.of_kind((Path(__file__).parent / "config_keys.json").read_bytes(), version)
    return frozenset(row.get(what, "").split()) if row else frozenset()
