"""Sizes and switches of one architecture: typed fields, each declared with its symbol and the key that gives it."""

from collections.abc import Callable
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast, dataclass_transform

from hfcount.mapper.reader import MAX_LAYERS, MAX_SIZE, Config
from hfcount.mapper.tracking import REQUIRED
from hfcount.record import Reader, Record
from hfcount.spec.tree.dims import Dim

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
P = ParamSpec("P")


class Readable(Protocol[T_co]):
    """A value that can be read from a config."""

    def read(self, c: Config, /) -> T_co:
        """Its value."""


# `init` tells type checkers that a field is not given to the class but read, as typing.dataclass_transform says it.
def size(
    symbol: str = "",
    *keys: str,
    absent: Any = REQUIRED,
    minimum: int | None = None,
    maximum: int = MAX_SIZE,
    init: Literal[False] = False,
) -> int:
    """A size in elements or entries, with its symbol in formulas.

    Args:
        symbol: the key's name by default.
        keys: the config keys that say it, the field's name by default; further ones are aliases, as for `Config.int`.
        absent: the size if there is none of them; by default the class's own, else HF101.
    """

    def take(c: Config, name: str) -> int:
        value = c.int(*(keys or (name,)), default=absent, minimum=minimum, maximum=maximum)
        return Dim.named(symbol, value) if symbol else value

    return cast(int, Reader(take))


def optional(symbol: str = "", *keys: str, minimum: int | None = None, init: Literal[False] = False) -> int | None:
    """A size that is None if its key is absent or null."""

    def take(c: Config, name: str) -> int | None:
        value: int | None = c.int(*(keys or (name,)), default=None, minimum=minimum)
        return Dim.named(symbol, value) if symbol and value is not None else value

    return cast("int | None", Reader(take))


def count(
    symbol: str = "", *keys: str, absent: Any = REQUIRED, minimum: int | None = None, init: Literal[False] = False
) -> int:
    """A number of layers, at most `MAX_LAYERS`."""
    return size(symbol, *keys, absent=absent, minimum=minimum, maximum=MAX_LAYERS)


def flag(*keys: str, absent: Any = REQUIRED, init: Literal[False] = False) -> bool:
    """A switch; `keys` are as for `size`, and `absent` is what it is without them."""
    return cast(bool, Reader(lambda c, name: c.bool(*(keys or (name,)), default=absent)))


def part(kind: Readable[T], *, init: Literal[False] = False) -> T:
    """A component that reads itself from the same config."""
    return cast(T, Reader(lambda c, name: kind.read(c)))


def derived(by: Callable[[Config], T], *, init: Literal[False] = False) -> T:
    """A value that a function computes from the config."""
    return cast(T, Reader(lambda c, name: by(c)))


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(size, optional, count, flag, part, derived)
)
class Sizes(Record):
    """Sizes and switches that are read by their declarations; fields that have none are given to `read` by name."""

    @classmethod
    def read(cls: Callable[P, T], c: Config, /, *_: P.args, **given: P.kwargs) -> T:
        """All of them, in the order of their declarations; `given` are the fields that no declaration reads.

        Raises:
            ConfigError: a key is absent or holds what it must not.
            TypeError: a field without declaration is not given.
        """
        sizes: Any = cls
        return cast(T, sizes(**{name: reader.take(c, name) for name, reader in sizes._readers.items()}, **given))
