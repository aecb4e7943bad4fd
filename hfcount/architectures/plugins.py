"""Architectures that other installed packages describe, by entry points of the group `hfcount.architectures`.

The name of an entry point is a model_type, and its value a module that has what a file of models/ has. A package that
describes several types has an entry point for each. Nothing is looked up before a type is met that is not known here,
and no package can describe a type that is.
"""

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, TypeVar

from hfcount.architectures.family import Family, family_of
from hfcount.errors import BrokenPlugin, HfcountError
from hfcount.spec import Lacking, Spec
from hfcount.spec.tree.nodes import Block

GROUP = "hfcount.architectures"

_Result = TypeVar("_Result")


def types() -> list[str]:
    """The types that installed packages describe, without importing them."""
    return sorted(_by_type())


def find(model_type: str) -> Family | None:
    """The family of an installed package that describes a type.

    Raises:
        BrokenPlugin: two packages describe it, or the package cannot be used.
    """
    points = _by_type().get(model_type, ())
    if not points:
        return None
    if len(points) > 1:
        packages = " and by ".join(dict.fromkeys(map(package, points)))
        raise BrokenPlugin(f"{model_type} is described by {packages}. Keep one of them.")
    module = loaded(points[0])
    for name in ("MODEL_TYPES", "spec", "blueprint"):
        if not hasattr(module, name):
            raise BrokenPlugin(f"{_named(points[0])} has no {name}.")
    types = module.MODEL_TYPES
    if not isinstance(types, tuple) or model_type not in types:
        raise BrokenPlugin(f"{_named(points[0])} is named {model_type}, which its MODEL_TYPES do not have.")
    family = family_of(module)
    return family._replace(
        spec=_guarded(family.spec, points[0], Spec),
        blueprint=_guarded(family.blueprint, points[0], Block),
        description=module.__doc__ or "no description",
        package=package(points[0]),
    )


def loaded(point: EntryPoint) -> ModuleType:
    """The module of an entry point.

    Raises:
        BrokenPlugin: it cannot be imported, or is no module.
    """
    try:
        module = point.load()
    except (Exception, SystemExit) as error:
        raise BrokenPlugin(f"{_named(point)} cannot be imported: {_described(error)}") from error
    if not isinstance(module, ModuleType):
        raise BrokenPlugin(f"{_named(point)} is no module, but {type(module).__name__}.")
    return module


def file(model_type: str) -> str:
    """The path of the module that describes a type, which must be one of `types()`."""
    return str(loaded(_by_type()[model_type][0]).__file__)


def package(point: EntryPoint) -> str:
    """The name and version of the package of an entry point."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "a package without metadata"


@cache
def _by_type() -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of each type; two with one value are the same, of a package that the path has twice."""
    found = dict[str, dict[str, EntryPoint]]()
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, {}).setdefault(point.value, point)
    return {model_type: tuple(points.values()) for model_type, points in found.items()}


def _guarded(call: Callable[[Any], _Result], point: EntryPoint, kind: type[_Result]) -> Callable[[Any], _Result]:
    """A function of a package, whose mistakes are errors with words; what it says of a config passes."""

    def run(given: Any) -> _Result:
        try:
            result = call(given)
        except (HfcountError, Lacking):
            raise
        except Exception as error:
            name = getattr(call, "__name__", "a function")
            raise BrokenPlugin(f"{_named(point)}: {name} fails with {_described(error)}") from error
        if not isinstance(result, kind):
            name = getattr(call, "__name__", "a function")
            raise BrokenPlugin(f"{_named(point)}: {name} gives {type(result).__name__} in place of {kind.__name__}.")
        return result

    run.__doc__ = call.__doc__
    return run


def _named(point: EntryPoint) -> str:
    """`The entry point acme of acme-models 1.2 (acme_models.llm)`."""
    return f"The entry point {point.name} of {package(point)} ({point.value})"


def _described(error: BaseException) -> str:
    """`AttributeError: no such name.`"""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}." if text else f"{type(error).__name__}."
