"""The parts of each pipeline class, as diffusers declares them (classes.json)."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class Signature(NamedTuple):
    """The arguments of a pipeline's class.

    Args:
        required: parts that it does not do without.
        optional: parts that may be absent or None.
        settings: what is no part, and has a default.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...]
    settings: tuple[str, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """All parts that it takes."""
        return (*self.required, *self.optional)


@cache
def _read() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(files(__package__).joinpath("classes.json").read_bytes())
    return values


@cache
def _recorded() -> tuple[str, dict[str, str]]:
    """The version of diffusers, and the signature of each class."""
    values = _read()
    return values["version"], {name: text for text, names in values["classes"].items() for name in names.split()}


def padding(kind: str) -> list[str]:
    """The tokenizers to whose model_max_length a pipeline of this class pads a text, by its source."""
    return [name for names, kinds in _read()["padded"].items() if kind in kinds.split() for name in names.split()]


def scales(kind: str) -> bool:
    """Whether a pipeline of this class divides what it decodes by its VAE's scaling_factor, by its source."""
    return kind in _read()["scaled"].split()


def version() -> str:
    """The version of diffusers that was recorded."""
    return _recorded()[0]


def signature(kind: str) -> Signature | None:
    """The arguments of a class; None for a class that is not in diffusers."""
    recorded = _recorded()[1].get(kind)
    if recorded is None:
        return None
    words = recorded.split()
    marked = {mark: tuple(word[1:] for word in words if word[0] == mark) for mark in "?="}
    return Signature(tuple(word for word in words if word[0] not in "?="), marked["?"], marked["="])


def alike(kind: str) -> list[str]:
    """The names of classes that are most like one that there is not."""
    from difflib import get_close_matches

    return get_close_matches(kind[:100], _recorded()[1], 1, 0.8)
