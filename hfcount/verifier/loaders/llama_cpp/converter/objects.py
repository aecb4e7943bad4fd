"""Objects and classes of recorded functions, and the attributes that values have for them."""

import builtins
from collections.abc import Callable, Mapping
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.operators import METHODS, NotRun

Variables = dict[str, Any]
Function = Callable[..., Any]

ERRORS: Mapping[str, type[Exception]] = {
    name: getattr(builtins, name)
    for name in (
        "AssertionError AttributeError Exception FileNotFoundError ImportError IndexError KeyError"
        " NotImplementedError RuntimeError TypeError ValueError"  # names of classes: nothing here is left to be done
    ).split()
}
"""Errors that recorded functions raise and catch."""


class Instance:
    """An object, or class, of the recorded code, with its attributes.

    Args:
        kind: the name of the class.
        look_up: gives the attribute of a name that it was not given.
        make: makes an object of the class; None for an object.
    """

    def __init__(self, kind: str, look_up: Callable[[str], Any], make: Function | None = None) -> None:
        self.kind, self.look_up, self.make = kind, look_up, make
        self.attributes: Variables = {}

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Makes an object of the class."""
        if self.make is None:
            raise TypeError(f"{self.kind!r} object is not callable")
        return self.make(*given, **named)

    def get(self, name: str) -> Any:
        """An attribute, given or looked up."""
        return self.attributes[name] if name in self.attributes else self.look_up(name)


def attribute(owner: Any, name: str) -> Any:
    """An attribute of a value, as far as recorded functions may use it.

    Raises:
        NotRun: they may not.
    """
    if isinstance(owner, Instance):
        return owner.get(name)
    known = METHODS.get(type(owner))
    if known is not None and name in known:
        return getattr(owner, name)
    if isinstance(owner, type | None) or known is not None:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    allowed = getattr(owner, "attribute", None)
    if allowed is None:
        raise NotRun(f"{name} of {type(owner).__name__}")
    return allowed(name)


def attributes_of(owner: Any) -> Variables:
    """The attributes of an object, to be set."""
    if isinstance(owner, Instance):
        return owner.attributes
    raise NotRun(f"setting an attribute of {type(owner).__name__}")
