"""Finds nested configs of types that the newest version of transformers does not build there."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.built_values import built_values
from hfcount.mapper.class_defaults import declared, knows, version


def refusals(values: Mapping[str, Any], kind: str, path: str = "") -> Iterator[str]:
    """Why nested configs are refused, as predicates of a sentence.

    Where a nested config names its own type, that is looked up among all types (5.24.0, configuration_utils.py).

    Args:
        kind: the model_type of the config.
        path: the keys that lead to it, such as `text_config.`.
    """
    known, built = declared(kind), built_values(kind, version())
    for name, nested in known.parts.items():
        inner = values.get(name)
        if not isinstance(inner, Mapping):
            continue
        given, key = inner.get("model_type"), f"{path}{name}.model_type"
        if nested.free and isinstance(given, str) and not knows(given):
            yield f"has no model_type {given}, which {key} names"
        elif given == kind and built and built.refuses("own", name):
            yield f"refuses {key}, which is that of the whole, {kind}"
        else:
            yield from refusals(inner, known.part(name, inner).kind, f"{path}{name}.")
