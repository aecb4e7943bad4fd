"""Finds the keys of a config that name activations which hold weights."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.class_defaults import declared

TRAINED = frozenset(("prelu", "xielu"))
"""The activations of transformers that hold tensors; a test holds the file against them."""


def trained_keys(values: Mapping[str, Any], kind: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The keys that name an activation with weights, by full paths as the class calls them, each with its word."""
    known = declared(kind if isinstance(kind, str) else "")
    for name, value in values.items():
        if isinstance(value, dict):
            yield from trained_keys(value, known.part(name, value).kind, f"{path}{name}.")
        elif isinstance(value, str) and value in TRAINED and name in (known.counting([name]) or [name]):
            yield f"{path}{known.names.get(name, name)}", value
