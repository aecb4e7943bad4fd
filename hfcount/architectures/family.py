"""What is known of an architecture: the contents of its file, or an entry of PARTS in the whole model's file."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block


class Family(NamedTuple):
    """The description of an architecture: the contents of its file, or an entry of PARTS in the whole model's file.

    `package` is the name and version of the package that it is from, if that is not hfcount.
    """

    types: tuple[str, ...]
    spec: Callable[[Config], Spec[Any]]
    blueprint: Callable[[Spec[Any]], Block]
    description: str | None = None
    ignored: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    predictors: tuple[str, ...] = ()
    retyped: Mapping[str, tuple[str, str | None, str]] = {}
    spellings: Mapping[str, str] = {}
    headed: Mapping[str, Mapping[str, str]] = {}
    within: Mapping[str, tuple[str, str]] = {}
    merged: Mapping[str, tuple[str, ...]] = {}
    converted: tuple[str, ...] | None = None
    transposed: tuple[str, ...] = ()
    allotted: tuple[tuple[str, ...], ...] = ()
    replaces_placeholders: bool = False
    package: str = ""

    @property
    def summary(self) -> str:
        """One line about it: the docstring of its file, or of a part's spec()."""
        return " ".join((self.description or self.spec.__doc__ or "").split())


_OPTIONAL = (
    "IGNORED",
    "CLASSES",
    "PREDICTORS",
    "RETYPED",
    "SPELLINGS",
    "HEADED",
    "WITHIN",
    "MERGED",
    "CONVERTED",
    "TRANSPOSED",
    "ALLOTTED",
    "REPLACES_PLACEHOLDERS",
)


def family_of(module: ModuleType) -> Family:
    """The family that a module describes as a whole."""
    optional = {key.lower(): getattr(module, key) for key in _OPTIONAL if hasattr(module, key)}
    return Family(module.MODEL_TYPES, module.spec, module.blueprint, module.__doc__, **optional)
