"""Compares two configs with defaults filled in, and finds the effect of each differing key."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from hfcount.blueprints.blueprint import Blueprint, Row
from hfcount.blueprints.build import draft
from hfcount.diffing.config_effects import ABSENT, STORAGE, effect, is_named, same, settled
from hfcount.diffing.defaults import defaults
from hfcount.diffing.pieces import ConfigKey, Effect
from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import Declared, NestedConfig, declared, declares
from hfcount.mapper.keys_without_shape import is_shapeless
from hfcount.mapper.loader_differences import OLDER, RotaryDifference, TieDifference
from hfcount.mapper.whatif import changed
from hfcount.text import printable, shown

Values = Mapping[str, Any]

_AS_THEY_ARE = frozenset((int, str, bool, type(None)))
_LONG = 100  # entries up to which an object is compared key by key
_ORDER: tuple[Effect, ...] = ("tensors", "storage", "reading", "unknown", "training", "none")


class _Key(NamedTuple):
    """A key that differs.

    Args:
        key: its path, by the names of the config class.
        a, b: its effective values.
        written: whether each side writes it.
        known: whether a known reader reads it.
        names: its path as written by A and by B.
    """

    key: str
    a: Any
    b: Any
    written: tuple[bool, bool]
    known: bool
    names: tuple[str, str]


def compare(a: Values, b: Values, blueprints: tuple[Blueprint | None, Blueprint | None]) -> tuple[ConfigKey, ...]:
    """Keys with different effective values, those that change tensors first.

    If one config contains a part of the other's model_type, that part is compared.
    """
    a, b, path = _alike(a, b)
    if path:  # the inner config names no class
        a, b = ({name: value for name, value in values.items() if name != "architectures"} for values in (a, b))
    models = _Models(_Model(a), _Model(b))
    rows = [_row(key, models) for key in _differing(a, b, str(a.get("model_type") or ""), ("", ""))]
    if not path:
        rows = _with_readers(rows, blueprints)
    rows = [row.replace(key=f"{printable(path)}{row.key}") for row in rows] if path else rows
    return tuple(sorted(rows, key=lambda row: _ORDER.index(row.effect)))


def plain(a: Values, b: Values, effect_of: Callable[[str], Effect]) -> tuple[ConfigKey, ...]:
    """Differing keys of two flat objects; `effect_of` gives the effect of a key."""
    rows = []
    for name in dict.fromkeys((*a, *b)):
        value, other = a.get(name, ABSENT), b.get(name, ABSENT)
        if not same(value, other):
            absent: Literal["a", "b"] | None = "a" if value is ABSENT else "b" if other is ABSENT else None
            values = json_value(value), json_value(other)
            rows.append(ConfigKey(key=printable(name), a=values[0], b=values[1], effect=effect_of(name), absent=absent))
    return tuple(sorted(rows, key=lambda row: _ORDER.index(row.effect)))


def _alike(a: Values, b: Values) -> tuple[Values, Values, str]:
    """Two configs of one type, if one contains the other's, and the path of the inner one."""
    kinds = [config.get("model_type") for config in (a, b)]
    if kinds[0] != kinds[1]:
        for name, value in a.items():
            if isinstance(value, dict) and value.get("model_type") == kinds[1] and kinds[1]:
                return value, b, f"{name}."
        for name, value in b.items():
            if isinstance(value, dict) and value.get("model_type") == kinds[0] and kinds[0]:
                return a, value, f"{name}."
    return a, b, ""


def _differing(a: Values, b: Values, kind: str, paths: tuple[str, str], inner: bool = False) -> Iterator[_Key]:
    """Differing keys of two objects, recursively; `inner` objects have no config class."""
    kinds = {kind_ for kind_ in (a.get("model_type"), b.get("model_type")) if isinstance(kind_, str)}
    kind, path = kind if len(kinds) < 2 else "", paths[0]
    first, second = ((dict(config), {}) if inner else settled(config, kind) for config in (a, b))
    usual = defaults(kind)
    for name in dict.fromkeys((*first[0], *second[0])):
        value, other = first[0].get(name, ABSENT), second[0].get(name, ABSENT)
        if same(value, other) or (name == "model_type" and path and len(kinds) < 2):
            continue
        names = f"{path}{first[1].get(name, name)}", f"{paths[1]}{second[1].get(name, name)}"
        if _is_nested(name, value, other):
            yield from _inner(value, other, declared(kind), name, names)
            continue
        written = value is not ABSENT, other is not ABSENT
        default = usual.get(name, ABSENT)
        value, other = default if value is ABSENT else value, default if other is ABSENT else other
        if not same(value, other):
            known = inner or is_named(kind, name) or declares(kind, name)
            yield _Key(f"{path}{name}", value, other, written, known, names)


def _inner(a: Any, b: Any, class_: Declared, name: str, names: tuple[str, str]) -> Iterator[_Key]:
    """Differing keys of a nested config that at least one side has."""
    usual = class_.part(name, next((value for value in (a, b) if isinstance(value, dict)), None))
    first, second = (_filled(value, usual) for value in (a, b))
    model_type = first.get("model_type")
    part = usual.kind or (model_type if isinstance(model_type, str) else "")
    yield from _differing(first, second, part, (f"{names[0]}.", f"{names[1]}."), inner=not part)


def _filled(value: Any, usual: NestedConfig) -> dict[str, Any]:
    """A nested config with the defaults that its class fills in."""
    if not isinstance(value, dict):
        return dict(usual.absent)
    return {**usual.absent, **value} if usual.merged else value


def _is_nested(name: str, *values: Any) -> bool:
    """Whether a value is compared key by key."""
    if name in STORAGE or not any(isinstance(value, dict) for value in values):
        return False
    return all(not isinstance(value, dict) or len(value) < _LONG for value in values)


def _with_readers(rows: list[ConfigKey], blueprints: tuple[Blueprint | None, Blueprint | None]) -> list[ConfigKey]:
    """Adds notes on readers that disagree about one side only, with new rows for keys that differ in nothing else."""
    sides = [_otherwise(blueprint) if blueprint else {} for blueprint in blueprints]
    by_key = {row.key: row for row in rows}
    for name, readers, other in (("A", sides[0], sides[1]), ("B", sides[1], sides[0])):
        for key, (value, text) in readers.items():
            if key not in other:
                row = by_key.get(key) or ConfigKey(key=key, a=value, b=value, effect="reading")
                by_key[key] = row.replace(readers=f"{text} of {name}")
    return list(by_key.values())


def _otherwise(blueprint: Blueprint) -> dict[str, tuple[Any, str]]:
    """Keys that readers interpret differently: the value, and who reads what."""
    rotary: dict[str, RotaryDifference] = {printable(rotation.key): rotation for rotation in blueprint.rotary_otherwise}
    ties: dict[str, TieDifference] = {printable(tie.place): tie for tie in blueprint.ties_otherwise}
    texts = {
        key: (json_value(rotation.newer), f"{OLDER} uses {shown(rotation.taken)}, from {printable(rotation.older)},")
        for key, rotation in rotary.items()
    }
    return texts | {
        key: (not tie.tied, f"{tie.reader} {'ties' if tie.tied else 'does not tie'} the head")
        for key, tie in ties.items()
    }


class _Model:
    """A config's tensors, also with changed keys."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.read: frozenset[str] = frozenset()
        self.rows: _Rows | None = None
        config = Config(dict(values))
        try:
            self.rows = _rows(draft(config))
            self.read = frozenset(config.read_keys())
        except HfcountError:  # then no key is tried
            pass

    def changed_by(self, key: str, value: Any) -> tuple[str, ...] | None:
        """The folded tensors that another value changes; None if no model can be built with it."""
        values = self.values
        if key.endswith("num_labels"):  # id2label and label2id imply it
            for name in ("id2label", "label2id"):
                values = _without(values, key.replace("num_labels", name).split("."))
        try:
            values = _without(values, key.split(".")) if value is ABSENT else changed(values, {key: value})
            rows = _rows(draft(Config(values)))
        except HfcountError:
            return None
        before = self.rows or {}
        differing = [name for name in dict.fromkeys((*before, *rows)) if before.get(name) != rows.get(name)]
        return tuple(printable((before.get(name) or rows[name])[0].name) for name in differing)


def _without(values: Values, path: list[str]) -> dict[str, Any]:
    first, *rest = path
    inner = values.get(first)
    if rest and isinstance(inner, dict):
        return {**values, first: _without(inner, rest)}
    return {name: value for name, value in values.items() if name != first}


class _Models:
    """Both models, and the keys that either reads."""

    def __init__(self, a: _Model, b: _Model) -> None:
        self.both = a, b
        self.read = a.read | b.read
        self.asked = self.read | {"architectures", "model_type"}

    def reads(self, key: _Key) -> bool:
        """Whether either reads a key, by any of its names."""
        return key.key in self.read or not self.read.isdisjoint(key.names)


_Rows = dict[tuple[str, ...], list[Row]]


def _rows(blueprint: Blueprint) -> _Rows:
    """The rows of a blueprint, by their names without numbers."""
    by_text: _Rows = {}
    for leaf, row in zip(blueprint.leaves, blueprint.rows(), strict=True):
        text = tuple(part if isinstance(part, str) else "" for part in leaf.segments)
        by_text.setdefault(text, []).append(row)
    return by_text


def _row(key: _Key, models: _Models) -> ConfigKey:
    effect, tensors = _effect(key, models)
    absent: Literal["a", "b"] | None = None if all(key.written) else "b" if key.written[0] else "a"
    a, b = json_value(key.a), json_value(key.b)
    return ConfigKey(key=printable(key.key), a=a, b=b, effect=effect, absent=absent, tensors=tensors)


def _effect(key: _Key, models: _Models) -> tuple[Effect, tuple[str, ...]]:
    by_name = effect(key.key)
    if by_name in ("none", "storage"):
        return by_name, ()
    tensors = _sized(key, models)
    if tensors is not None:
        return "tensors", tensors
    if by_name is not None:
        return by_name, ()
    if _is_derived(key, models):
        return "none", ()
    made = _lacks(key, None) and not all(key.written) and not is_shapeless(key.key.rpartition(".")[2])
    if _lacks(key, ABSENT) or made:
        return "unknown", ()  # a class may make of others what is absent
    return ("reading" if key.known or models.reads(key) else "unknown"), ()


def _sized(key: _Key, models: _Models) -> tuple[str, ...] | None:
    """The tensors that a key changes; empty if only together with other keys, None if none."""
    model, other = models.both
    first, last = key.key.partition(".")[0], key.key.rpartition(".")[2]
    if model.rows is None or other.rows is None or models.asked.isdisjoint((key.key, *key.names, first)):
        return None
    tensors = model.changed_by(key.names[0], key.b)
    if tensors:
        return tensors
    if tensors == () and (turned := other.changed_by(key.names[1], key.a)):
        return turned
    if tensors is None and other.changed_by(key.names[1], key.a) != ():
        read = {key.key, *key.names, first} & model.read
        if (read and not is_shapeless(last)) or first == "architectures" or _is_cut(key.a, key.b):
            return ()
    return None


def _is_derived(key: _Key, models: _Models) -> bool:
    """Whether a size absent on one side equals the value derived from other keys."""
    if all(key.written) or not (_lacks(key, None) or _lacks(key, ABSENT)):
        return False
    return models.reads(key) and not is_shapeless(key.key.rpartition(".")[2]) and models.both[0].rows is not None


def _lacks(key: _Key, value: Any) -> bool:
    """Whether one side has this placeholder value."""
    return key.a is value or key.b is value


def _is_cut(a: Any, b: Any) -> bool:
    """Whether one list is a prefix of the other, as lists with an entry for each layer are."""
    if not (isinstance(a, list) and isinstance(b, list)) or len(a) == len(b):
        return False
    return all(same(first, other) for first, other in zip(a, b, strict=False))


def json_value(value: Any) -> Any:
    """A value as JSON; None for an absent one without a known default."""
    if value is ABSENT:
        return None
    if type(value) in _AS_THEY_ARE:
        return value
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return shown(value)
    return value
