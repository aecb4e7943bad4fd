"""Immutable values with typed fields, whose classes cost a fortieth of a dataclass to make."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, dataclass_transform


class Reader:
    """How a field is read: what `take` makes of the config and of the field's name."""

    __slots__ = ("take",)

    def __init__(self, take: Callable[[Any, str], object]) -> None:
        self.take = take


def _of_class(kind: object) -> bool:
    return getattr(kind, "__origin__", None) is ClassVar


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record:
    """An immutable value; its fields are its annotations that do not begin with `_`, and their values are defaults.

    A `ClassVar` is no field.

    Raises:
        TypeError: a field without default is not given, or one is given that the class does not have.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[Mapping[str, object]] = {}
    _readers: ClassVar[Mapping[str, Reader]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        names = [name for name, kind in cls.__annotations__.items() if not (name.startswith("_") or _of_class(kind))]
        cls._fields = tuple(dict.fromkeys((*cls._fields, *names)))
        there = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        readers = {name: value for name, value in there.items() if isinstance(value, Reader)}
        values = {name: value for name, value in there.items() if name not in readers}
        cls._readers = {name: reader for name, reader in cls._readers.items() if name not in names} | readers
        cls._defaults = {name: value for name, value in cls._defaults.items() if name not in names} | values
        for name in there:
            delattr(cls, name)

    if not TYPE_CHECKING:  # which knows the fields

        def __init__(self, **values: Any) -> None:
            fields = {**self._defaults, **values} if self._defaults else values
            if len(fields) != len(self._fields) or any(name not in fields for name in self._fields):
                missing = ", ".join(name for name in self._fields if name not in fields)
                unknown = ", ".join(name for name in fields if name not in self._fields)
                text = " and ".join(filter(None, (missing and f"lacks {missing}", unknown and f"has no {unknown}")))
                raise TypeError(f"{type(self).__name__} {text}")
            self.__dict__.update(fields)
            self._settle()

        def __setattr__(self, name: str, value: object) -> NoReturn:
            raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

        def __delattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def _settle(self) -> None:
        """Completes the fields after they are set."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__[name] for name in self._fields))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={self.__dict__[name]!r}' for name in self._fields)})"

    def replace(self, **changes: Any) -> Self:
        """A copy with these fields changed."""
        return type(self)(**{**self.__dict__, **changes})
