"""Values with typed fields, whose classes cost a fortieth of a dataclass to make."""

from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar, cast, dataclass_transform

T = TypeVar("T")


class Reader:
    """How a field is read: what `take` makes of the config and of the field's name."""

    __slots__ = ("take",)

    def __init__(self, take: Callable[[Any, str], object]) -> None:
        self.take = take


class Made:
    """A default that is made anew for each value."""

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], object]) -> None:
        self.factory = factory


def made(*, factory: Callable[[], T]) -> T:
    """A default that `factory` makes anew for each value."""
    return cast(T, Made(factory))


def _of_class(kind: object) -> bool:
    return getattr(kind, "__origin__", None) is ClassVar


def _refuse_unannotated(kind: "type[_Fields]", annotated: Collection[str]) -> None:
    """Raises TypeError if a class sets a field of its base without an annotation, which would change nothing."""
    if names := [name for name in kind._fields if name in kind.__dict__ and name not in annotated]:
        raise TypeError(f"{kind.__name__} sets {', '.join(names)} without an annotation")


class _Fields:
    """What a Record and a State share: fields by position or by name, and equality of all but `_uncompared`."""

    _fields: ClassVar[tuple[str, ...]] = ()
    _known: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[Mapping[str, Any]] = {}
    _made: ClassVar[tuple[str, ...]] = ()
    _readers: ClassVar[Mapping[str, Reader]] = {}
    _uncompared: ClassVar[frozenset[str]] = frozenset()
    _compared: ClassVar[Callable[[Any], object]] = type

    def __init_subclass__(cls, *, kw_only: bool = True) -> None:  # which only type checkers look at
        super().__init_subclass__()
        names = [name for name, kind in cls.__annotations__.items() if not (name.startswith("_") or _of_class(kind))]
        _refuse_unannotated(cls, names)
        cls._fields = tuple(dict.fromkeys((*cls._fields, *names)))
        cls._known = frozenset(cls._fields)
        compared = [name for name in cls._fields if name not in cls._uncompared]
        cls._compared = attrgetter(*compared) if compared else type
        there = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        readers = {name: value for name, value in there.items() if isinstance(value, Reader)}
        values = {name: value for name, value in there.items() if name not in readers}
        cls._readers = {name: reader for name, reader in cls._readers.items() if name not in names} | readers
        cls._defaults = {name: value for name, value in cls._defaults.items() if name not in names} | values
        cls._made = tuple(name for name, value in cls._defaults.items() if isinstance(value, Made))
        for name in there:
            delattr(cls, name)

    if not TYPE_CHECKING:  # which knows the fields

        def __init__(self, *values: Any, **named: Any) -> None:
            given = {**dict(zip(self._fields, values, strict=False)), **named} if values else named
            fields = {**self._defaults, **given} if self._defaults else given
            if fields.keys() != self._known or len(given) != len(values) + len(named):
                raise TypeError(self._misfit(values, named))
            for name in self._made:
                if isinstance(fields[name], Made):
                    fields[name] = fields[name].factory()
            self.__dict__.update(fields)
            self._settle()

    def _misfit(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> str:
        """Which fields are missing, which are given that the class does not have, or twice."""
        placed = self._fields[: len(values)]
        lacks = ", ".join(name for name in self._fields if name not in {*placed, *named, *self._defaults})
        unknown = ", ".join(name for name in named if name not in self._known)
        twice = ", ".join(name for name in placed if name in named)
        many = f"takes {len(self._fields)} values, not {len(values)}" if len(values) > len(placed) else ""
        problems = (lacks and f"lacks {lacks}", unknown and f"has no {unknown}", twice and f"has {twice} twice", many)
        return f"{type(self).__name__} {' and '.join(filter(None, problems))}"

    def _settle(self) -> None:
        """Completes the fields after they are set."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and type(self)._compared(self) == type(self)._compared(other)

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self._values().items() if name not in self._uncompared]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _values(self) -> dict[str, Any]:
        """The values of all fields, in the order of the fields."""
        values = self.__dict__
        return {name: values[name] for name in self._fields}

    def replace(self, **changes: Any) -> Self:
        """A copy with these fields changed."""
        return type(self)(**{**self._values(), **changes})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(made,))
class Record(_Fields):
    """An immutable value; its fields are its annotations that do not begin with `_`, and their values are defaults.

    A `ClassVar` is no field. Fields are given by name; of a class with `kw_only=False` also by position.

    Raises:
        TypeError: a field without default is not given, or one is given that the class does not have. A subclass sets
            a field of its base without the annotation that makes it a default.
    """

    if not TYPE_CHECKING:  # which knows that it is frozen

        def __setattr__(self, name: str, value: object) -> NoReturn:
            raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

        def __delattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def __hash__(self) -> int:
        return hash(type(self)._compared(self))


@dataclass_transform(kw_only_default=True, field_specifiers=(made,))
class State(_Fields):
    """The same of what changes while it is used: it has no hash, and its fields can be set."""

    __hash__ = None  # type: ignore[assignment]  # mypy wants a method here; None is how Python marks the unhashable
