"""Typed reads of a config, which keep track of the keys that were read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any, TypeAlias, TypeVar, cast

from hfcount.errors import ConfigError
from hfcount.mapper.reference import Declared, declared
from hfcount.mapper.shapeless import is_shapeless
from hfcount.mapper.token_ids import TokenId, token_ids
from hfcount.text import shown
from hfcount.tree.dims import Dim, scaled

T = TypeVar("T")
# The methods below are named after the types they read, and hide these in the class body.
Int: TypeAlias = int
Bool: TypeAlias = bool
Str: TypeAlias = str

MAX_SIZE = 2**32
MAX_LAYERS = 2**62

_REQUIRED: Any = object()


class Config:
    """A config.json, read by key.

    A key that is absent means what transformers' class of that model_type declares: in a nested config wherever it is
    absent, at the top where nothing else says what that means. A key with the value null counts as absent, but null is
    what it stays. Reading a key that is absent and has no default, has another type or is
    out of range raises ConfigError, which names the document, the key, what was found and what is needed.

    Args:
        values: the JSON object.
        where: the name of the document in messages, such as `org/model@ad44e77 config.json`.
        family: the model_type, for messages.
        path: the keys that lead to this part of the document, such as `text_config.`.
        chosen: full key paths that win when an alias is also present.
        kind: the model_type, or name, of the class that says what absent keys mean; by default the config's model_type.

    Attributes:
        ignored: keys that do not affect shapes in this family, here and in nested parts.
        layer_count: the number of layers, once it has been read.
        nested: whether this is part of another config.
        taken: keys absent at the top for which the class's default was taken, with it.
    """

    def __init__(
        self,
        values: Mapping[Str, Any],
        where: Str = "config.json",
        family: Str = "this model",
        path: Str = "",
        chosen: Collection[Str] = (),
        kind: Any = None,
    ) -> None:
        self._values = values
        self._problems: dict[Str, ConfigError] = {}
        self._read: set[Str] = set()
        self._parts: dict[Str, Config] = {}
        self._path = path
        self._chosen = chosen
        self._assumed: set[Str] = set()
        self.kind: Any = values.get("model_type") if kind is None else kind
        self.taken: dict[Str, Any] = {}
        self.where = where
        self.layer_count: Int | None = None
        self.family = family
        self.ignored: Collection[Str] = ()
        self.nested = bool(path)

    def int(self, *names: Str, default: Any = _REQUIRED, minimum: Int = 1, maximum: Int = MAX_SIZE) -> Int:
        """A whole number; `names` are aliases of one key, of which the first present one is read."""
        value, name = self._find(names, default)
        if name is None:
            unknown = names and isinstance(value, int) and not isinstance(value, Dim)
            return cast(Int, Dim.named(names[0], value, f"{self._path}{names[0]}, by default") if unknown else value)
        if type(value) is not int:
            raise self._misfit(name, value, "a whole number", "HF001")
        if not minimum <= value <= maximum:
            raise self._misfit(name, value, f"{shown(minimum)} to {shown(maximum)}")
        return Dim.named(name, value, self._source(name))

    def share(self, *names: Str, default: Any = _REQUIRED) -> float:
        """A fraction, above 0 and at most 1."""
        value, name = self._find(names, default)
        if name is not None and (type(value) not in (int, float) or not 0 < value <= 1):
            raise self._misfit(name, value, "above 0 and at most 1", "HF001")
        return cast(float, value)

    def number(self, *names: Str, default: Any = _REQUIRED, zero: Bool = False) -> float:
        """A number above 0, or with `zero` not below, whole or not."""
        value, name = self._find(names, default)
        if name is not None and type(value) not in (int, float):
            raise self._misfit(name, value, "a number", "HF001")
        if name is not None and not (0 < value <= MAX_SIZE or (zero and value == 0)):
            raise self._misfit(name, value, f"above 0, to {shown(MAX_SIZE)}")
        return cast(float, value)

    def times(self, name: Str, size: Int, *, default: Any = _REQUIRED) -> Int:
        """`size` times a number above 0, whole or not, rounded down."""
        factor = self.number(name, default=default)
        known = self.given(name) and name not in self._assumed
        return scaled(factor, f"{self._path}{name}" if known else f"{factor}", size) if known or factor != 1 else size

    def bool(self, *names: Str, default: Any = _REQUIRED) -> Bool:
        """true or false."""
        value, name = self._find(names, default)
        if name is not None and type(value) is not bool:
            raise self._misfit(name, value, "true or false", "HF001")
        return cast(Bool, value)

    def str(self, *names: Str, default: Any = _REQUIRED) -> Str:
        """A string."""
        value, name = self._find(names, default)
        if name is not None and type(value) is not str:
            raise self._misfit(name, value, "a text", "HF001")
        return cast(Str, value)

    def strs(self, *names: Str, parted: Str = "") -> list[Str]:
        """A list of strings, empty if absent; `parted` is what a single string is parted by."""
        value = self._find(names, None)[0] if parted else None
        return value.split(parted) if isinstance(value, str) else self._list(names, str, "texts")

    def ints(self, *names: Str, default: Iterable[Int] = (), alone: Bool = False) -> list[Int]:
        """A list of whole numbers, `default` if absent; with `alone` a single number becomes a list of one."""
        value, name = self._find(names, None)
        if name is None:
            return list(default)
        numbers = [value] if alone and type(value) is int else self._list(names, int, "whole numbers")
        return [Dim.named(name, number, self._source(name)) for number in numbers]

    def length(self, *names: Str) -> Int | None:
        """The length of a list of anything; None if absent."""
        return None if self._find(names, None)[1] is None else len(self.entries(*names))

    def entries(self, *names: Str) -> list[Any]:
        """A list of anything, empty if absent."""
        value, name = self._find(names, None)
        if name is not None and not isinstance(value, list):
            raise self._misfit(name, value, "a list", "HF001")
        return value if isinstance(value, list) else []

    def sub(self, *names: Str) -> Config | None:
        """The config of a nested part, whose reads this config also tracks; None if absent."""
        value, name = self._find(names, None)
        if name is None:
            return None
        if not isinstance(value, dict):
            raise self._misfit(name, value, "an object", "HF001")
        if name not in self._parts:
            self._parts[name] = self._below(name, value)
        return self._parts[name]

    def part(self, *names: Str, defaults: Mapping[Str, Any] | None = None) -> Config:
        """The config of a part that the model always has, empty if absent; `defaults` are values of absent keys."""
        return (self.sub(*names) or self._below(names[0], None)).assuming(defaults or {})

    def assuming(self, defaults: Mapping[Str, Any]) -> Config:
        """Gives absent keys the values in `defaults`; returns this config."""
        for key, value in defaults.items():
            if key not in self._values:
                self._values = {**self._values, key: value}
                self._assumed.add(key)
            self._read.add(key)
        return self

    def object(self, *names: Str) -> Mapping[Str, Any] | None:
        """A JSON object; None if absent."""
        value, name = self._find(names, None)
        if name is not None and not isinstance(value, dict):
            raise self._misfit(name, value, "an object", "HF001")
        return cast("Mapping[Str, Any] | None", value)

    def dtype(self) -> Str | None:
        """The dtype that the config declares for the weights, such as `bfloat16`; None if it declares none."""
        value, _ = self._find(("dtype", "torch_dtype"), None)
        if value is None or isinstance(value, dict):  # an object gives a dtype to each part of a composite model
            return None
        return self.str("dtype", "torch_dtype").removeprefix("torch.")

    def as_part(self) -> Config:
        """This config seen as a nested part whose keys are in the same object; both track reads together."""
        other = copy(self)
        other.nested = True
        return other

    def given(self, name: Str) -> Bool:
        """Whether the key is present and not null."""
        return self._values.get(name) is not None

    def is_null(self, name: Str) -> Bool:
        """Whether the key is null: as it is present, or where it is absent by the class's default."""
        value, found = self._find((name,), None)
        if found is not None or name in self._values:
            return value is None
        by_class = self._declared().default((name,))
        return by_class is not None and by_class[1] is None

    def is_int(self, name: Str) -> Bool:
        """Whether the key holds a whole number, for keys that may also hold a word."""
        return type(self._find((name,), None)[0]) is int

    def read_keys(self) -> list[Str]:
        """The keys that were asked for, present or not, as full paths."""
        parts = [key for part in self._parts.values() for key in part.read_keys()]
        return [*(f"{self._path}{name}" for name in self._read), *parts]

    def facts(self) -> dict[Str, Any]:
        """The keys that were read and are present, with their values: all that a blueprint depends on."""
        own = {name: value for name, value in self._values.items() if name in self._read}
        return own | {name: part.facts() for name, part in self._parts.items()}

    def unread(self, ignored: Collection[Str] = ()) -> list[Str]:
        """Keys that may affect shapes (whole numbers, truth values, lists) and that nobody has read.

        false, 0 and an empty list affect nothing. `ignored` adds to the config's own `ignored`, also for its parts.
        """
        known = {*self._read, *self.ignored, *ignored}
        own = [
            name
            for name, value in self._values.items()
            if isinstance(value, (int, list)) and value and name not in known and not is_shapeless(name)
        ]
        below = {*self.ignored, *ignored}
        return own + [f"{part}.{name}" for part, config in self._parts.items() for name in config.unread(below)]

    @property
    def token_ids(self) -> tuple[TokenId, ...]:
        """The token ids that it names, here and in nested configs."""
        return tuple(token_ids(self._values, self.kind, self._path))

    @property
    def problems(self) -> tuple[ConfigError, ...]:
        """What was said of this document with `cannot_run`."""
        return tuple(self._problems.values())

    def cannot_run(self, said: Str, key: Str, fix: Str | None = None, **values: Any) -> None:
        """Notes a contradiction that no tensor shows: a model is built from this config, and fails when it is run.

        The arguments are those of `error`.
        """
        error = self.error(f"{said} A model can be built with them, and cannot run.", key, fix, **values)
        self._problems[str(error)] = error

    def error(self, said: Str, key: Str, fix: Str | None = None, **values: Any) -> ConfigError:
        """An error in this document at `key`; `values` are further arguments of ConfigError."""
        return ConfigError(f"{self.where}: {said}", key=f"{self._path}{key}", fix=fix, **values)

    def _misfit(
        self, name: Str, value: Any, needed: Str, code: Str | None = None, found: Str | None = None
    ) -> ConfigError:
        said = f"{name} is {found or shown(value)}, and must be {needed}."
        return self.error(said, name, code=code, expected=needed, observed=_plain(value))

    def _below(self, name: Str, values: Mapping[Str, Any] | None) -> Config:
        part = self._declared().part(name, values)
        where, path = f"{self.where}: {name}", f"{self._path}{name}."
        below = Config(values or {}, where, self.family, path, self._chosen, part.kind)
        below._problems = self._problems
        return below.assuming(part.absent) if values is None or part.merged else below

    def _declared(self) -> Declared:
        return declared(self.kind) if isinstance(self.kind, str) else declared("")

    def _source(self, name: Str) -> Str:
        return f"{self._path}{name}" + (", by default" if name in self._assumed else "")

    def _list(self, names: Iterable[Str], kind: type[T], noun: Str) -> list[T]:
        value, name = self._find(tuple(names), None)
        if name is None:
            return []
        if not isinstance(value, list) or any(type(item) is not kind for item in value):
            found = "a list of other things" if isinstance(value, list) else shown(value)
            raise self._misfit(name, value, f"a list of {noun}", "HF001", found)
        return value

    def _find(self, names: tuple[Str, ...], default: Any) -> tuple[Any, Str | None]:
        self._read.update(names)
        found = [(self._values[name], name) for name in names if self._values.get(name) is not None]
        if not found:
            others = self._declared().spellings(names)
            found = [(self._values[name], name) for name in others if self._values.get(name) is not None]
            self._read.update(name for _, name in found)
        if not found:
            by_class = self._declared().default(names) if self._path or default is _REQUIRED else None
            if by_class and by_class[1] is not None and not any(name in self._values for name in names):
                name, value = by_class
                self._assumed.add(name)
                self.taken.update({} if self._path else {name: value})
                return value, name
            if default is _REQUIRED:
                missing = f"no {names[0]}" if len(names) == 1 else f"none of {', '.join(names)}"
                fix = "Add it to config.json; if it goes by another name there, the family has to learn that name."
                raise self.error(f"{missing}, and {self.family} needs it.", names[0], fix, code="HF101")
            return default, None
        if len(found) > 1 and self._chosen:
            found = [one for one in found if f"{self._path}{one[1]}" in self._chosen] or found
        for value, name in found[1:]:
            if type(value) is not type(found[0][0]):
                return value, name  # the caller then checks its type
            if value != found[0][0]:
                first, other = shown(found[0][0]), shown(value)
                said = f"{found[0][1]} is {first} and {name} is {other}, though both say the same thing."
                raise self.error(
                    said, name, "Remove the wrong one.", expected=_plain(found[0][0]), observed=_plain(value)
                )
        return found[0]


def _plain(value: Any) -> int | float | Str:
    """A foreign value for a report: strings and numbers of usual size as they are, all else described."""
    if isinstance(value, str) or (isinstance(value, (int, float)) and abs(value) < 10**30):
        return value
    return shown(value)
