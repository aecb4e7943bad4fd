"""Checks JSON values against types as values.json writes them, such as `int|list[int]|null`."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_ONE = {
    "int": "a whole number",
    "float": "a number with a decimal point",
    "bool": "true or false",
    "str": "text",
    "null": "null",
    "list": "a list",
    "sequence": "a list",
    "object": "an object",
}
_MANY = {
    "int": "whole numbers",
    "float": "numbers with a decimal point",
    "bool": "true or false",
    "str": "text",
    "list": "lists",
    "object": "objects",
}


def fits(value: Any, types: str) -> bool:
    """Whether a value is of one of these types.

    As in transformers, true is not an int, and an int is not a float.
    """
    return any(_fits(value, alternative) for alternative in alternatives(types))


def _fits(value: Any, alternative: str) -> bool:
    name, _, inner = alternative.partition("[")
    if not name:  # a list of the words themselves
        return any(type(value) is type(word) and value == word for word in json.loads(alternative))
    if name == "any":
        return True
    inner = inner.removesuffix("]")
    if name in ("list", "sequence"):
        is_list = isinstance(value, list | str) if name == "sequence" else isinstance(value, list)
        return is_list and (not inner or all(fits(item, inner) for item in value))
    if name == "object":
        return isinstance(value, dict) and (not inner or all(fits(item, inner) for item in value.values()))
    return type(value) is {"int": int, "float": float, "bool": bool, "str": str, "null": type(None)}[name]


def meaning(types: str) -> str:
    """A type in words."""
    parts = list(alternatives(types))
    if {"int", "float"} <= {*parts}:
        parts = ["a number", *(alternative for alternative in parts if alternative not in ("int", "float"))]
    words = list(dict.fromkeys(_word(alternative) for alternative in parts))
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _word(alternative: str) -> str:
    name, _, inner = alternative.partition("[")
    if not name:
        return f"one of {', '.join(map(str, json.loads(alternative)))}"
    inner = inner.removesuffix("]")
    if inner in _MANY and name in ("list", "sequence"):
        return f"a list of {_MANY[inner]}"
    return _ONE.get(name, alternative)


@lru_cache(512)
def alternatives(types: str) -> tuple[str, ...]:
    """The types of which a value has one."""
    return tuple(_parted(types))


def _parted(types: str) -> Iterator[str]:
    depth, begin = 0, 0
    for place, char in enumerate(types):
        depth += (char == "[") - (char == "]")
        if char == "|" and not depth:
            yield types[begin:place]
            begin = place + 1
    yield types[begin:]
