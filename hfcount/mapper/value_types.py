"""Whether a JSON value is of a type as values.json writes it, such as `int|list[int]|null`."""

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


def fits(value: Any, said: str) -> bool:
    """Whether a value is of one of these types.

    As transformers does, it takes true and false for no whole number, and a whole number for no other number.
    """
    return any(_fits(value, one) for one in _alternatives(said))


def _fits(value: Any, one: str) -> bool:
    name, _, inner = one.partition("[")
    if not name:  # a list of the words themselves
        return any(type(value) is type(word) and value == word for word in json.loads(one))
    if name == "any":
        return True
    inner = inner.removesuffix("]")
    if name in ("list", "sequence"):
        whole = isinstance(value, list | str) if name == "sequence" else isinstance(value, list)
        return whole and (not inner or all(fits(item, inner) for item in value))
    if name == "object":
        return isinstance(value, dict) and (not inner or all(fits(item, inner) for item in value.values()))
    return type(value) is {"int": int, "float": float, "bool": bool, "str": str, "null": type(None)}[name]


def meaning(said: str) -> str:
    """A type in words."""
    parts = list(_alternatives(said))
    if {"int", "float"} <= {*parts}:
        parts = ["a number", *(one for one in parts if one not in ("int", "float"))]
    words = list(dict.fromkeys(_word(one) for one in parts))
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _word(one: str) -> str:
    name, _, inner = one.partition("[")
    if not name:
        return f"one of {', '.join(map(str, json.loads(one)))}"
    inner = inner.removesuffix("]")
    if inner in _MANY and name in ("list", "sequence"):
        return f"a list of {_MANY[inner]}"
    return _ONE.get(name, one)


@lru_cache(512)
def _alternatives(said: str) -> tuple[str, ...]:
    return tuple(_parted(said))


def _parted(said: str) -> Iterator[str]:
    depth, begin = 0, 0
    for place, char in enumerate(said):
        depth += (char == "[") - (char == "]")
        if char == "|" and not depth:
            yield said[begin:place]
            begin = place + 1
    yield said[begin:]
