"""Activations that hold weights, and the modules that hold these (activations.json, by tests/tools/activations.py)."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.mapper import json_lines

NUMBER = "{}"
"""What stands for a number in paths."""


class Place(NamedTuple):
    """A module that holds an activation.

    Args:
        name: of the activation in it.
        path: of the module, numbers as {}; a larger model may have it below a prefix.
        children: the names of what else the module has, numbers as {}.
    """

    name: str
    path: str
    children: frozenset[str]


class ActivationPlaces(NamedTuple):
    """The places of a type's activations.

    Args:
        keys: by the full path of the key that names the activation; none where no model has it as a module.
        bare: paths and children of modules at such a path that hold none.
        unknown: why they are not known; empty if they are.
    """

    keys: Mapping[str, tuple[Place, ...]]
    bare: frozenset[tuple[str, frozenset[str]]]
    unknown: str = ""

    def is_known(self, path: str, children: frozenset[str]) -> bool:
        """Whether what a module holds is known, which has the path of one that holds an activation."""
        held = (place for places in self.keys.values() for place in places)
        return (path, children) in self.bare or any((place.path, place.children) == (path, children) for place in held)


def activation_places(kind: str) -> ActivationPlaces | None:
    """Where models of a type hold activations; None if it is not recorded."""
    row = json_lines.of_kind(_file(), kind)
    if row is None:
        return None
    keys = {
        key: tuple(Place(name, path, frozenset(children.split())) for name, path, children in places)
        for key, places in row.get("keys", {}).items()
    }
    bare = frozenset((path, frozenset(children.split())) for path, children in row.get("bare", ()))
    return ActivationPlaces(keys, bare, row.get("unknown", ""))


def tensors(word: str) -> Mapping[str, tuple[tuple[int, ...], bool]]:
    """The tensors of an activation: shapes in elements by name, and whether each is a buffer."""
    return {name: (tuple(shape), is_buffer) for name, (shape, is_buffer) in _words()[word].items()}


def folded(names: Iterable[str]) -> Mapping[str, str]:
    """The names of what a module has, and as what they are recorded.

    A number is {}; names that count from 0, such as expert_0 and expert_1, are expert_{}, however many there are.
    """
    known = {*names}
    return {name: NUMBER if name.isdecimal() else _counted(name, known) for name in known}


def _counted(name: str, names: set[str]) -> str:
    stem, _, number = name.rpartition("_")
    counted = stem and re.fullmatch(r"0|[1-9]\d{0,8}", number) and f"{stem}_0" in names
    return f"{stem}_{NUMBER}" if counted else name


@cache
def _words() -> Mapping[str, Any]:
    words: Mapping[str, Any] = json_lines.of_all(_file())["words"]
    return words


@cache
def _file() -> bytes:
    return (Path(__file__).parent / "activations.json").read_bytes()
