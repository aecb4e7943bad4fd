"""Base of Config: aliases of keys, defaults of absent keys, and which keys were read."""

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from math import inf
from typing import Any, Self

from hfcount.errors import ConfigError, Variant
from hfcount.mapper.accepted_values import accepted_values
from hfcount.mapper.class_defaults import Declared, declared, declares
from hfcount.mapper.keys_without_shape import may_bear
from hfcount.mapper.trained_keys import trained_keys
from hfcount.text import shown

REQUIRED: Any = object()
"""Stands for the default of a key that has none."""

UNSAID: Any = object()
"""Stands for the default that the class declares, else None."""


class Tracked:
    """The keys of a config, and which of them were read. See Config for the typed reads and the arguments."""

    def __init__(
        self,
        values: Mapping[str, Any],
        where: str = "config.json",
        family: str = "this model",
        path: str = "",
        chosen: Collection[str] = (),
        kind: Any = None,
    ) -> None:
        self._values = values
        self._read: set[str] = set()
        self._parts: dict[str, Self] = {}
        self._path = path
        self._chosen = chosen
        self._assumed: set[str] = set()
        self._sources: Mapping[str, str] = {}
        self._counting: dict[str, str] = {}
        self._problems: dict[str, ConfigError] = {}
        self.kind: Any = values.get("model_type") if kind is None else kind
        self.taken: dict[str, Any] = {}
        self.differing: set[str] = set()
        self.where = where
        self.layer_count: int | None = None
        self.family = family
        self.ignored: Collection[str] = ()
        self.nested = bool(path)

    def given(self, name: str) -> bool:
        """Whether the key is present and not null."""
        return self._values.get(name) is not None

    def has(self, name: str) -> bool:
        """Whether the key is present, be it null."""
        return name in self._values

    def names(self) -> Collection[str]:
        """The keys that are present."""
        return self._values.keys()

    def value(self, name: str) -> Any:
        """What the key holds, unchecked and without reading it; None if it is absent."""
        return self._values.get(name)

    def without_effect(self, *names: str) -> None:
        """Counts keys as read whatever they hold: the architecture has them in its configs, and computes them."""
        self._read.update(names)

    def has_read(self, name: str) -> bool:
        """Whether the key was asked for."""
        return name in self._read

    def is_null(self, name: str) -> bool:
        """Whether the key is null: as it is present, or where it is absent by the class's default."""
        value, given = self._find((name,), None)
        if given is not None or name in self._values:
            return value is None
        by_class = self._declared().default((name,))
        return by_class is not None and by_class[1] is None

    def is_int(self, name: str) -> bool:
        """Whether the key holds a whole number, for keys that may also hold a word."""
        return type(self._find((name,), UNSAID)[0]) is int

    def assuming(self, defaults: Mapping[str, Any]) -> Self:
        """Gives absent keys the values in `defaults`; returns this config."""
        for key, value in defaults.items():
            if key not in self._values:
                self._values = {**self._values, key: value}
                self._assumed.add(key)
            self._read.add(key)
        return self

    def confirms(self, **built: Any) -> None:
        """Notes as read the keys that say what is built whether they are there or not; with another value they are not.

        A config may repeat what its architecture has anyway. What contradicts that stays unread, and is reported.
        """
        for name, value in built.items():
            written = self._values.get(name)
            if written == value and isinstance(written, bool) == isinstance(value, bool):
                self._read.add(name)

    def as_part(self, name: str = "") -> Self:
        """This config seen as a nested part, `name`, whose keys are in the same object; both track reads together."""
        other = copy(self)
        other.nested = True
        other.kind = self._declared().part(name, None).kind if name else self.kind
        return other

    def varied(self, where: str, values: Mapping[str, Any], source: str = "") -> Self:
        """This config with some values replaced by those of the object at `where`; both track reads together.

        `source` is the full path of a key that the values are from instead.
        """
        other = copy(self)
        other._values = {**self._values, **values}
        other._assumed = self._assumed - values.keys()
        other._sources = {name: source or f"{self._path}{where}.{name}" for name in values}
        return other

    def again(self, values: Mapping[str, Any]) -> Self:
        """The same config with some values replaced, read anew."""
        return type(self)({**self._values, **values}, self.where, chosen=self._chosen)

    def trained_activations(self) -> dict[str, str]:
        """The keys that name an activation with weights, here and in nested configs, each with its word.

        Reading them is noted; of those of nested configs, the first key of their path is.
        """
        if not isinstance(self.kind, str) or self.kind[:1].isupper():  # as the names of diffusers' classes begin
            return {}
        found = dict(trained_keys(self._values, self.kind))
        self._read.update(key.partition(".")[0] for key in found)
        return found

    @property
    def parts(self) -> Collection[Self]:
        """The nested configs that were read."""
        return self._parts.values()

    def read_keys(self) -> list[str]:
        """The keys that were asked for, present or not, as full paths."""
        parts = [key for part in self._parts.values() for key in part.read_keys()]
        return [*(f"{self._path}{name}" for name in self._read), *parts]

    def facts(self) -> dict[str, Any]:
        """The keys that were read and are present, with their values: all that a blueprint depends on."""
        facts = {name: value for name, value in self._values.items() if name in self._read}
        return facts | {name: part.facts() for name, part in self._parts.items()}

    def unread(self, ignored: Collection[str] = ()) -> list[str]:
        """Keys that may affect shapes, by `may_bear`, and that nobody has read.

        What the type's own class declares is left out, in objects too: every config of the type has it, and the family
        is known to do without. `ignored` adds to the config's own `ignored`, also for its parts.
        """
        below = {*self.ignored, *ignored}
        known = {*self._read, *below}
        if self.nested and not self.given("vocab_size") and not _declares(self.kind, "vocab_size", None):
            known.add("tie_word_embeddings")  # of a part without a vocabulary, which has nothing to tie
        unread = [name for name, value in self._values.items() if name not in known and may_bear(name, value)]
        undeclared = [name for name in unread if not _declares(self.kind, name, self._values[name])]
        return undeclared + [f"{part}.{name}" for part, config in self._parts.items() for name in config.unread(below)]

    @property
    def problems(self) -> tuple[ConfigError, ...]:
        """The problems noted with `cannot_run`."""
        return tuple(self._problems.values())

    def cannot_run(self, variant: Variant, text: str, key: str, fix: str | None = None, **values: Any) -> None:
        """Notes a contradiction that no tensor shows: a model is built from this config, and fails when it is run.

        The arguments are those of `error`.
        """
        text = f"{text} A model can be built with that, but cannot run."
        self._note(self.error(variant, text, key, fix, built=True, **values))

    def _note(self, problem: ConfigError) -> None:
        self._problems[str(problem)] = problem

    def error(self, variant: Variant, text: str, key: str, fix: str | None = None, **values: Any) -> ConfigError:
        """HF103 at `key` of this document: a variant of it, in a sentence; `values` are arguments of ConfigError."""
        return ConfigError(f"{self.where}: {text}", variant=variant, key=self.path(key), fix=fix, **values)

    def unequal(self, key: str, entries: int, other: str, count: int) -> ConfigError:
        """HF103, a list that has another number of entries than `other` says."""
        text, values = f"{key} has {entries:,} entries, but {other} is {count:,}.", (int(count), int(entries))
        return self.error("list-length", text, key, "Correct one of them.", expected=values[0], observed=values[1])

    def malformed(self, text: str, key: str, code: str = "HF001", **values: Any) -> ConfigError:
        """What `key` of this document holds has not the form that it needs: HF001, or another rule."""
        return ConfigError(f"{self.where}: {text}", code, key=self.path(key), **values)

    def _misfit(
        self,
        name: str,
        value: Any,
        needed: str,
        code: str | None = None,
        observed: str | None = None,
        built: bool = False,
    ) -> ConfigError:
        text = f"{name} is {observed or shown(value)}, but must be {needed}."
        if code and value not in (inf, -inf) and value == value:  # else it is a number, if not one of JSON
            return self.malformed(text, name, code, expected=needed, observed=plain(value), built=built)
        fix = "Correct it if that is not intended." if built else None
        return self.error("out-of-range", text, name, fix, expected=needed, observed=plain(value), built=built)

    def _below(self, name: str, values: Mapping[str, Any] | None, defaults: Mapping[str, Any] | None = None) -> Self:
        part = self._declared().part(name, values)
        where, path = f"{self.where}: {name}", f"{self._path}{name}."
        taken = self._without_replaced(name, values or {}, part.kind)
        below = type(self)(taken, where, self.family, path, self._chosen, part.kind)
        below._problems = self._problems
        below.assuming(defaults or {})
        return below.assuming(part.absent) if values is None or part.merged else below

    def _without_replaced(self, name: str, values: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """The values of a part but for sizes below 1, and null, in whose place the class of the whole sets others."""
        odd = [key for key, value in values.items() if value is None or (type(value) is int and value < 1)]
        accepted = accepted_values(self.kind) if odd and isinstance(self.kind, str) else None
        usual = declared(kind).keys if accepted and accepted.replaced else {}
        dropped = {key for key in odd if usual.get(key) and accepted and f"{name}.{key}" in accepted.replaced}
        return {key: value for key, value in values.items() if key not in dropped} if dropped else values

    def _declared(self) -> Declared:
        return declared(self.kind) if isinstance(self.kind, str) else declared("")

    def source(self, name: str, place: str = "") -> str:
        """The path of the key that counts, with a place in its list, and whether it is a default; for `Dim.named`."""
        counting = name if name in self._sources else self._counting.get(name, name)
        return self.path(counting) + place + (", by default" if name in self._assumed else "")

    def path(self, name: str) -> str:
        """The full path of a key."""
        return self._sources.get(name) or f"{self._path}{name}"

    def _find(self, names: tuple[str, ...], default: Any) -> tuple[Any, str | None]:
        """The value of the first of these names that is given, and that name; `default` and None if none is."""
        by_class = self._declared()
        present = self._those_given((*names, *by_class.spellings(names)))
        self._read.update(names, present)
        if not present:
            return self._absent(names, default)
        if any(self._values[name] != self._values[present[0]] for name in present):
            chosen = [name for name in present if f"{self._path}{name}" in self._chosen]
            counting = chosen or by_class.counting(sorted(present, key=list(self._values).index)) or present
            self._read.difference_update(set(present) - set(counting))
            present = counting
        first, value = present[0], self._values[present[0]]
        for name in present[1:]:
            other = self._values[name]
            if type(other) is not type(value):
                return other, name  # the caller then checks its type
            if other != value:
                text = f"{first} is {shown(value)}, but {name} is {shown(other)}: both mean the same and must agree."
                values = {"expected": plain(value), "observed": plain(other)}
                raise self.error("contradiction", text, name, "Remove the wrong one.", **values)
        if len(present) > 1:
            self._counting[first] = next(iter(by_class.counting(sorted(present, key=list(self._values).index))), first)
        return value, first

    def _those_given(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.given(name)]

    def _absent(self, names: tuple[str, ...], default: Any) -> tuple[Any, str | None]:
        """What an absent key means: in a part the class's default, at the top `default` unless there is none."""
        known = self._declared()
        by_class = known.default(names) if self._path or known.settled or default in (REQUIRED, UNSAID) else None
        if by_class and by_class[1] is not None and not any(map(self.has, names)):
            name, value = by_class
            self._assumed.add(name)
            self.taken.update({} if self._path or known.settled else {name: value})
            return value, name
        if default is REQUIRED:
            missing = f"no {names[0]}" if len(names) == 1 else f"none of {', '.join(names)}"
            fix = "Add it to config.json. If it is there under another name, please report that name."
            raise self.malformed(f"{missing}, and {self.family} needs it.", names[0], "HF101", fix=fix)
        return None if default is UNSAID else default, None


def plain(value: Any) -> int | float | str:
    """A foreign value for a report: strings and numbers of usual size as they are, all else described."""
    if isinstance(value, str) or (isinstance(value, (int, float)) and abs(value) < 10**30):
        return value
    return shown(value)


def _declares(kind: object, name: str, value: Any) -> bool:
    """Whether the class of a model_type declares a key, and of an object all that may bear on shapes."""
    if not isinstance(kind, str) or not declares(kind, name):
        return False
    if not isinstance(value, dict):
        return True
    below = declared(kind).part(name, value).kind
    return all(_declares(below, key, item) for key, item in value.items() if may_bear(key, item))
