"""Finds the file that describes a model_type or a class, by reading the files without importing them."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from os import listdir
from pathlib import Path

from hfcount.architectures.family import Family, family_of
from hfcount.mapper.unknown_types import type_of_class, unknown_type

_HERE = Path(__file__).parent / "models"


@lru_cache(2048)
def find(model_type: str) -> Family | None:
    """The family that describes `model_type`, or that of an installed package where none here does.

    Raises:
        BrokenPlugin: that package cannot be used.
    """
    if (family := here(model_type)) is not None:
        return family
    from hfcount.architectures import plugins  # for a type that is not known here alone

    return plugins.find(model_type)


@lru_cache(2048)
def here(model_type: str) -> Family | None:
    """The family in models/ that describes `model_type`."""
    name = _named(model_type)
    return None if name is None else next(family for family in _load(name) if model_type in family.types)


def _named(model_type: str) -> str | None:
    """The file that describes a type; files named like the type are opened first, mostly only one."""
    words = model_type.split("_")
    likely = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    if model_type[:1].isupper():  # the name of a class, such as UNet2DModel, whose file is unet_2d.py
        likely = [name for name in reversed(_names()) if model_type.lower().startswith(name.replace("_", ""))]
    near = next((name for name in likely if name in _names() and model_type in _types_in(name)), None)
    return near or _files().get(model_type)


def file(model_type: str) -> Path:
    """The path of the file that describes a type, which must be known here."""
    return _HERE / f"{_named(model_type)}.py"


def everyone() -> Iterator[Family]:
    """All families, by the names of their files."""
    return (family for name in _names() for family in _load(name))


def is_recorded(model_type: object) -> bool:
    """Whether stand_ins.py has a type; nothing is imported or opened for the name of one."""
    return f"{model_type}.json" in _recorded()


@cache
def _recorded() -> frozenset[str]:
    return frozenset(listdir(_HERE.parent / "recorded"))


def all_types() -> list[str]:
    """Every model_type that a family describes."""
    return sorted(_files())


@cache
def _names() -> dict[str, None]:
    """The names of the files, in order."""
    names = (name[:-3] for name in listdir(_HERE) if name.endswith(".py") and not name.startswith("_"))
    return dict.fromkeys(sorted(names))


@cache
def _files() -> dict[str, str]:
    """The file that describes each model_type. Reading all files costs an eighth of importing them."""
    return {model_type: name for name in _names() for model_type in _types_in(name)}


def _types_in(name: str) -> list[str]:
    """The types in MODEL_TYPES of a file and in its PARTS."""
    source = _source(name)
    parts = source.find(b"\nPARTS = ")
    return _texts(_TYPES.search(source), *(re.finditer(_PART, source[parts:]) if parts >= 0 else ()))


def _classes_in(name: str) -> list[str]:
    return _texts(re.search(_CLASSES, _source(name)))


def _predictors_in(name: str) -> list[str]:
    return _texts(re.search(_PREDICTORS, _source(name)))


def _source(name: str) -> bytes:
    return (_HERE / f"{name}.py").read_bytes()


def _texts(*tuples: re.Match[bytes] | None) -> list[str]:
    return [text.decode() for match in tuples if match for text in _TEXT.findall(match[1])]


# A search for one beginning of a line costs a tenth of one for several.
_TYPES = re.compile(rb"^MODEL_TYPES = \(([^)]*)\)", re.MULTILINE)
_PART = rb"\bFamily\(\s*\(([^)]*)\)"  # compiled where it is first used
_CLASSES = rb"(?m)^CLASSES = \(([^)]*)\)"
_PREDICTORS = rb"(?m)^PREDICTORS = \(([^)]*)\)"
_TUPLE = re.compile(rb"\(([^)]*)\)")
_PART_CLASSES = re.compile(rb"\bclasses=\(([^)]*)\)")
_TEXT = re.compile(rb'"([^"]+)"')


@cache
def _load(name: str) -> tuple[Family, ...]:
    """The families of a file: the whole model first, then its parts."""
    module = import_module(f"{__package__}.models.{name}")
    family = family_of(module)
    return (family, *getattr(module, "PARTS", ()))


def unknown(model_type: str) -> str:
    """The message about a type that no family describes."""
    return unknown_type(model_type, all_types())


def of_class(name: str) -> str:
    """The model_type of a class, such as `minicpm3` of MiniCPM3ForCausalLM; empty if no family describes one."""
    return type_of_class(name, all_types()) if name else ""


@lru_cache(64)
def variant(name: str) -> str:
    """The type of the family that has the class among its CLASSES; empty if none has."""
    return next((_types_in(file)[0] for file in _names() if name in _classes_in(file)), "")


def described(name: str, model_type: str = "") -> bool:
    """Whether the class is in CLASSES of the family of a known `model_type`, or else of any family."""
    family = find(model_type)
    return name in family.classes if family else bool(variant(name))


def owner(name: str) -> str:
    """The first type that has the class among its CLASSES or PREDICTORS, of a part too; empty if none has."""
    return _owners().get(name, "")


@cache
def _owners() -> dict[str, str]:
    found = dict[str, str]()
    for file in _names():
        source, whole = _source(file), _types_in(file)[0]
        for name in (*_classes_in(file), *_predictors_in(file)):
            found.setdefault(name, whole)
        for part in source.partition(b"\nPARTS = ")[2].split(b"Family(")[1:]:
            (kind, *_), classes = _texts(_TUPLE.search(part)), _texts(_PART_CLASSES.search(part))
            for name in classes:
                found.setdefault(name, kind)
    return found


def predicts(name: str, model_type: str) -> bool:
    """Whether the class is the layers of a known `model_type` that predict further tokens, without its model."""
    family = find(model_type)
    return family is not None and name in family.predictors


def together(model_type: str) -> tuple[str, ...]:
    """All types of the family that describes this type, which must be known."""
    family = find(model_type)
    assert family is not None
    return family.types
