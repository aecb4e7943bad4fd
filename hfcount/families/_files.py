"""Which file describes which model_type and which class, read from the files without importing them."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from hfcount.mapper import Config
from hfcount.mapper.unknown import type_of_class, unknown_type
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

_HERE = Path(__file__).parent


class Family(Protocol):
    """What a family's module has."""

    MODEL_TYPES: tuple[str, ...]
    __doc__: str

    def spec(self, c: Config) -> Spec[Any]:
        """Maps the config's keys to their meaning."""

    def blueprint(self, s: Spec[Any]) -> Block:
        """Lays out the names and shapes."""


@lru_cache(256)
def find(model_type: str) -> Family | None:
    """The family that describes `model_type`."""
    # Most types have a file of their name; then no other file is opened.
    name = _named(model_type)
    return None if name is None else _load(name)


def _named(model_type: str) -> str | None:
    """The file that serves a type."""
    own = model_type in _names() and model_type in _types_in(model_type)
    return model_type if own else _files().get(model_type)


def file(model_type: str) -> Path:
    """The file of the family that describes a type, which must be known."""
    return _HERE / f"{_named(model_type)}.py"


def everyone() -> Iterator[Family]:
    """All families, by name."""
    return map(_load, _names())


def all_types() -> list[str]:
    """Every model_type that a family describes."""
    return sorted(_files())


@cache
def _names() -> list[str]:
    return sorted(path.stem for path in _HERE.glob("[!_]*.py"))


@cache
def _files() -> dict[str, str]:
    """The file that serves each model_type. Reading all of them costs an eighth of importing them."""
    return {model_type: name for name in _names() for model_type in _types_in(name)}


def _types_in(name: str) -> list[str]:
    """The MODEL_TYPES that a file writes down."""
    return _written("MODEL_TYPES", name)


def _written(what: str, name: str) -> list[str]:
    """The texts of a tuple that a file writes down."""
    declared = _DECLARED[what].search((_HERE / f"{name}.py").read_bytes())
    return re.findall('"([^"]+)"', declared[1].decode()) if declared else []


_DECLARED = {what: re.compile(rf"^{what} = \(([^)]*)\)".encode(), re.MULTILINE) for what in ("MODEL_TYPES", "CLASSES")}


def _load(name: str) -> Family:
    return cast(Family, import_module(f"hfcount.families.{name}"))


def unknown(model_type: str) -> str:
    """What is said of a type that no family describes."""
    return unknown_type(model_type, all_types())


def of_class(name: str) -> str:
    """The model_type of a class, such as `minicpm3` of MiniCPM3ForCausalLM; empty if no family describes one."""
    return type_of_class(name, all_types()) if name else ""


@lru_cache(64)
def variant(name: str) -> str:
    """The type of the family that has the class among its CLASSES; empty if none has."""
    return next((_types_in(one)[0] for one in _names() if name in _written("CLASSES", one)), "")


def described(name: str, model_type: str = "") -> bool:
    """Whether a family has the class among its CLASSES: any, or the one of a type, which must be known."""
    own = _named(model_type)
    return name in _written("CLASSES", own) if own else bool(variant(name))


def together(model_type: str) -> list[str]:
    """The types that a family describes which describes this one, which must be known."""
    own = _named(model_type)
    assert own is not None
    return _types_in(own)
