"""Two configs by effect: which keys have another value, defaults filled in, and what each of them changes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from hfcount.building import draft
from hfcount.diffing.model import ConfigKey, Effect
from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.mapper.readers import OLDER, Rotary, Tied, usual_rotary
from hfcount.mapper.reference import Declared, declared, declares
from hfcount.mapper.shapeless import is_shapeless
from hfcount.mapper.whatif import changed
from hfcount.plan import Blueprint, Row
from hfcount.text import printable, shown

Values = Mapping[str, Any]

_ABSENT: Any = object()

_NOTHING = frozenset(
    """
    _name_or_path transformers_version _commit_hash _attn_implementation _attn_implementation_autoset
    _attn_implementation_internal _diffusers_version use_cache output_attentions output_hidden_states return_dict
    torchscript _experts_implementation unsloth_version unsloth_fixed mlx_version
    """.split()
)
_STORAGE = frozenset(("dtype", "torch_dtype", "quantization_config", "quantization", "compression_config"))
_DTYPES = ("dtype", "torch_dtype")
_TRAINING = tuple(
    """
    dropout _drop dropout_p drop_rate drop_path_rate layerdrop pdrop initializer_range initializer_factor init_std
    _loss_coef _loss_coefficient _cost jitter_noise gradient_checkpointing label_smoothing mask_time_prob
    mask_feature_prob
    """.split()
)
_ROPE = ("rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor", "rotary_pct", "rotary_emb_base")
_LONG = 100  # entries of an object below which keys are told apart


class _Key(NamedTuple):
    """A key on both sides: its effective values, and whether they are written there."""

    key: str
    a: Any
    b: Any
    written: tuple[bool, bool]
    declared: bool


def compare(a: Values, b: Values, blueprints: tuple[Blueprint | None, Blueprint | None]) -> tuple[ConfigKey, ...]:
    """The keys whose effective values differ, those that change tensors first."""
    keys = list(_differing(a, b, str(a.get("model_type") or ""), ""))
    whole = _Model(a, blueprints[0]), _Model(b, blueprints[1])
    rows = _with_readers([_row(one, whole) for one in keys], blueprints)
    order: tuple[Effect, ...] = ("tensors", "storage", "reading", "unknown", "training", "none")
    return tuple(sorted(rows, key=lambda row: order.index(row.effect)))


def _differing(a: Values, b: Values, kind: str, path: str) -> Iterator[_Key]:
    """Keys of two objects, and of those in them, whose effective values differ."""
    own = declared(kind) if a.get("model_type") == b.get("model_type") else declared("")
    if not path or kind:
        a, b = _settled(a, own, kind), _settled(b, own, kind)
    for name in dict.fromkeys((*a, *b)):
        one, other = a.get(name, _ABSENT), b.get(name, _ABSENT)
        if _same(one, other):
            continue
        part = own.part(name, one if isinstance(one, dict) else None).kind
        if (isinstance(one, dict) or isinstance(other, dict)) and name not in _STORAGE and _is_few(one, other):
            one, other = (value if isinstance(value, dict) else {} for value in (one, other))
            yield from _differing(one, other, part or str(one.get("model_type") or ""), f"{path}{name}.")
            continue
        usual = own.default((name,))
        written = one is not _ABSENT, other is not _ABSENT
        one, other = (usual[1] if value is _ABSENT and usual else value for value in (one, other))
        if not _same(one, other):
            known = bool(path) or name in own.keys or name in own.parts or declares(kind, name)
            yield _Key(f"{path}{name}", one, other, written, known)


def _settled(values: Values, own: Declared, kind: str) -> dict[str, Any]:
    """The values under the names that the class has for them; of the dtype and the rotary settings under one name."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found[own.names.get(name, name)] = value
    if "torch_dtype" in found:
        found.setdefault("dtype", found.pop("torch_dtype"))
        found.pop("torch_dtype", None)
    if isinstance(found.get("dtype"), str):
        found["dtype"] = found["dtype"].removeprefix("torch.")
    return _with_rope(found, usual_rotary(kind))


def _with_rope(values: dict[str, Any], usual: Values) -> dict[str, Any]:
    """The same with all that is said of rotary positions in one object, as version 5 of transformers writes it."""
    scaling = values.get("rope_scaling") or values.get("rope_parameters")
    said = usual or any(name in values for name in _ROPE)
    inner: dict[str, Any] = dict(scaling or {}) if isinstance(scaling, dict | None) else {"": {}}
    if not said or any(isinstance(one, dict) for one in (*inner.values(), *usual.values())):
        return values
    if "type" in inner:
        inner.setdefault("rope_type", inner.pop("type"))
        inner.pop("type", None)
    for name in ("rope_theta", "partial_rotary_factor"):
        if values.get(name) is not None:
            inner.setdefault(name, values[name])
    inner = {"rope_type": "default", **usual, **inner}
    rest = {name: one for name, one in values.items() if name not in _ROPE[:4]}
    return {**rest, "rope_parameters": inner}


def _is_few(*values: Any) -> bool:
    return all(not isinstance(one, dict) or len(one) < _LONG for one in values)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same to a reader: an absent one and null are, and so are 1 and 1.0."""
    if one is _ABSENT or other is _ABSENT:
        return one is other or (one is None or other is None)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other) or (one != one and other != other)


def _with_readers(rows: list[ConfigKey], blueprints: tuple[Blueprint | None, Blueprint | None]) -> list[ConfigKey]:
    """The rows with what readers take otherwise on one side alone, and a row for each key that only they tell apart."""
    sides = [_otherwise(blueprint) if blueprint else {} for blueprint in blueprints]
    found = {row.key: row for row in rows}
    for name, own, other in (("A", sides[0], sides[1]), ("B", sides[1], sides[0])):
        for key, (value, text) in own.items():
            if key not in other:
                row = found.get(key) or ConfigKey(key=key, a=value, b=value, effect="reading")
                found[key] = replace(row, readers=f"{text} of {name}")
    return list(found.values())


def _otherwise(blueprint: Blueprint) -> dict[str, tuple[Any, str]]:
    """What readers take otherwise, by key: the value, and who takes what."""
    rotary: dict[str, Rotary] = {printable(one.key): one for one in blueprint.rotary_otherwise}
    ties: dict[str, Tied] = {printable(one.place): one for one in blueprint.ties_otherwise}
    said = {
        key: (_shown(one.newer), f"{OLDER} takes {shown(one.taken)}, from {one.older},") for key, one in rotary.items()
    }
    return said | {
        key: (not one.tied, f"{one.reader} {'ties' if one.tied else 'does not tie'} the head")
        for key, one in ties.items()
    }


class _Model:
    """What a config describes, and with changes."""

    def __init__(self, values: Values, blueprint: Blueprint | None) -> None:
        self.values, self.blueprint = values, blueprint
        self.read: frozenset[str] = frozenset()
        if blueprint is not None and not blueprint.derived_with:
            config = Config(dict(values))
            try:
                draft(config)
                self.read = frozenset(config.read_keys())
            except HfcountError:
                self.blueprint = None
        self.rows = _rows(self.blueprint) if self.blueprint else {}

    def changed_by(self, key: str, value: Any) -> tuple[str, ...] | None:
        """The tensors that another value changes, folded; None where no model is built with it."""
        try:
            values = changed(self.values, {key: value})
            if value is _ABSENT:
                values = _without(self.values, key.split("."))
            built = draft(Config(values))
            rows = _rows(built)
        except HfcountError:
            return None
        names = dict.fromkeys((*self.rows, *rows))
        differing = [name for name in names if self.rows.get(name) != rows.get(name)]
        return tuple(printable((self.rows.get(name) or rows[name])[0].name) for name in differing)


def _without(values: Values, path: list[str]) -> dict[str, Any]:
    first, *rest = path
    inner = values.get(first)
    if rest and isinstance(inner, dict):
        return {**values, first: _without(inner, rest)}
    return {name: one for name, one in values.items() if name != first}


_Rows = dict[tuple[str, ...], list[Row]]


def _rows(blueprint: Blueprint) -> _Rows:
    """The tensors by the texts around the numbers of their names."""
    found: _Rows = {}
    for leaf, row in zip(blueprint.leaves, blueprint.rows(), strict=True):
        text = tuple(part if isinstance(part, str) else "" for part in leaf.segments)
        found.setdefault(text, []).append(row)
    return found


def _row(one: _Key, models: tuple[_Model, _Model]) -> ConfigKey:
    effect, tensors = _effect(one, models)
    absent: Literal["a", "b"] | None = None if all(one.written) else "b" if one.written[0] else "a"
    return ConfigKey(
        key=printable(one.key), a=_shown(one.a), b=_shown(one.b), effect=effect, absent=absent, tensors=tensors
    )


def _effect(one: _Key, models: tuple[_Model, _Model]) -> tuple[Effect, tuple[str, ...]]:
    first, last = one.key.partition(".")[0], one.key.rpartition(".")[2]
    if last in _NOTHING or last.startswith("_"):
        return "none", ()
    if first in _STORAGE or last in _DTYPES:
        return "storage", ()
    model, other = models
    if model.blueprint is not None and other.blueprint is not None:
        changed_tensors = model.changed_by(one.key, one.b)
        if changed_tensors is None and other.changed_by(one.key, one.a) != ():
            is_read = any(key in model.read for key in (one.key, first)) or first == "architectures"
            if is_read and not is_shapeless(last):
                return "tensors", ()
        elif changed_tensors:
            return "tensors", changed_tensors
    if any(last.endswith(end) for end in _TRAINING):
        return "training", ()
    known = one.declared or one.key in (*model.read, *other.read)
    return ("reading" if known else "unknown"), ()


def _shown(value: Any) -> Any:
    """A value as JSON holds it; None for one that is absent and has no default that is known."""
    if value is _ABSENT:
        return None
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return shown(value)
    return value
