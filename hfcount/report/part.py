"""The base class of what a report is made of."""

from collections import ChainMap
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from hfcount.record import Made, Record

if TYPE_CHECKING:
    from dataclasses import Field


class _AsDataclass:
    """Describes a part as a dataclass to whoever takes it for one: pydantic, `dataclasses.asdict` and `replace`."""

    def __get__(self, part: "Part | None", kind: "type[Part]") -> "dict[str, Field[Any]]":
        asked: Any = kind  # a type checker takes the hash of a part for that of its class
        return _described(asked)


class Part(Record):
    """A part of a report.

    Unknown fields are rejected when parsing. `_aliases` are the names that fields have in JSON, where these differ, and
    `_rare` the fields that JSON leaves out where they are null.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "validate_by_name": True}
    _aliases: ClassVar[dict[str, str]] = {}
    _rare: ClassVar[frozenset[str]] = frozenset()

    __dataclass_fields__ = _AsDataclass()

    def _as_json(self) -> dict[str, Any]:
        values = self._values()
        if self._rare:
            values = {name: value for name, value in values.items() if value is not None or name not in self._rare}
        return {self._aliases.get(name, name): value for name, value in values.items()} if self._aliases else values


def as_json(part: Part) -> dict[str, Any]:
    """The fields of a part by their names in JSON, in their order."""
    return part._as_json()


@cache
def _described(kind: type[Part]) -> "dict[str, Field[Any]]":
    from dataclasses import field, make_dataclass  # takes longer than the report of a sound checkpoint

    rows, kinds = [], ChainMap(*(base.__annotations__ for base in kind.__mro__ if "__annotations__" in vars(base)))
    for name in kind._fields:
        settings: dict[str, Any] = {"metadata": {"alias": kind._aliases[name]}} if name in kind._aliases else {}
        if name in kind._defaults:
            default = kind._defaults[name]
            settings |= {"default_factory": default.factory} if isinstance(default, Made) else {"default": default}
        rows.append((name, kinds[name], field(**settings)))
    fields: dict[str, Field[Any]] = vars(make_dataclass(kind.__name__, rows, kw_only=True))["__dataclass_fields__"]
    return fields
