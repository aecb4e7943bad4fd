"""Finds rotary settings that transformers refuses: missing parameters, and values that are not numbers.

transformers 5.23: modeling_rope_utils.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.accepted_values import ABSENT, AcceptedValues, Problem, renamed, shared
from hfcount.mapper.built_values import BuiltValues
from hfcount.mapper.class_defaults import declared, version
from hfcount.mapper.rotary_tables import kindless, labels, rotary_tables

_NEEDED: Mapping[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}
_LISTS = ("short_factor", "long_factor")
_SHARE, _SETTINGS = "partial_rotary_factor", "rope_parameters"
_READ = ("rope_theta", _SHARE)
_TEXTS = {"rope_theta": "theta_text", _SHARE: "share_text"}
"""The forms of built.json with a text for one of these keys."""

_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "yarn": ("original_max_position_embeddings", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"),
    "llama3": ("original_max_position_embeddings",),
}


def rope(
    accepted: AcceptedValues, values: Mapping[str, Any], kind: str, turns: bool, built: BuiltValues | None = None
) -> Iterator[Problem]:
    """What is wrong with a config's rotary positions.

    Args:
        accepted: what the class takes.
        values: the config.
        kind: the model_type, or name, of its class.
        turns: whether a model of it has rotary positions.
        built: what is built of values of its keys; None where that is not recorded.
    """
    name = "rope_scaling" if values.get("rope_scaling") else "rope_parameters"
    given = values.get(name)
    turns = turns and accepted.rope and bool(accepted.rotates)
    if turns and _lacks_theta(given):
        read = [key for key in _READ if key in values and key not in accepted.types]
        yield from _numbers(values, "", [key for key in read if not _is_unread(built, key)])
    without, tables = kindless(values, kind, older=False), rotary_tables(kind, version())
    if turns and without and tables.kindless is not None and not tables.refuses(without):
        return
    if given and (accepted.rope or name == "rope_scaling"):
        found = [*_given(accepted, name, values, turns, (built, labels(values, kind)))]
        yield from found
        yield from _factors(name, values, kind) if turns and not found else ()


def _factors(name: str, values: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """Lists with other than the factors that the features of a head need."""
    given = values[name]
    if isinstance(given, dict) and given.get("rope_type", given.get("type")) == "longrope":
        tables = rotary_tables(kind, version())
        for key, needed in tables.uneven_factors(given, values, declared(kind).keys):
            yield f"{name}.{key}", given[key], f"a list of {needed} numbers"


def _is_unread(built: BuiltValues | None, key: str) -> bool:
    """Whether a model is built whatever a key of rotary positions that are not scaled holds."""
    return built is not None and built.takes(_TEXTS[key], _SETTINGS)


def _given(
    accepted: AcceptedValues,
    name: str,
    values: Mapping[str, Any],
    turns: bool,
    known: tuple[BuiltValues | None, frozenset[str]],
) -> Iterator[Problem]:
    """What is wrong with the object that describes them, or with those that it has for kinds of layers."""
    given, (built, labelled) = values[name], known
    if not isinstance(given, dict):
        if name not in accepted.types:
            yield name, given, "an object or null"
        return
    kinds = _kinds(given, labelled, values.get("layer_types"))
    nested = [key for key in kinds if given[key] is not None]
    if nested and name == _SETTINGS and built and built.refuses("by_kind", name):
        yield name, given, "one object, and none for a kind of layers"
        return
    if built and built.refuses("kind_null", name):
        yield from ((f"{name}.{key}", None, "an object with settings") for key in kinds if given[key] is None)
    for place in nested or ([] if kinds else [""]):
        path, inner = (f"{name}.{place}", given[place]) if place else (name, given)
        if not isinstance(inner, dict):
            yield path, inner, "an object or null"
        elif place and (needed := _of_kind(inner, "rope_theta" in values, built)):
            yield path, inner, needed
        else:
            yield from _checked(accepted, inner, f"{path}.", turns, built)


def _kinds(given: Mapping[str, Any], labelled: frozenset[str], listed: Any) -> list[str]:
    """The kinds of layers that have an entry: of those that a config lists, where it does, and of further labels."""
    kinds = shared("layer_types")
    known = [key for key, value in given.items() if key in labelled or isinstance(value, dict)]
    if not isinstance(listed, list):
        return known
    used = {renamed().get(kind, kind) for kind in listed if isinstance(kind, str)}
    return [key for key in known if key in used or key not in kinds]


def _of_kind(given: Mapping[str, Any], beside: bool, built: BuiltValues | None) -> str | None:
    """What an entry for a kind of layers lacks; `beside` the object there is the base of the frequencies."""
    if not given and built and built.refuses("kind_empty", _SETTINGS):
        return "an object with settings"
    bare = "rope_theta" not in given and not beside
    return "an object with rope_theta" if bare and built and built.refuses("kind_theta", _SETTINGS) else None


def by_kind(accepted: AcceptedValues, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Kinds of layers that have no entry where rotary positions are looked up by the kind."""
    listed, name = values.get("layer_types"), "rope_scaling" if values.get("rope_scaling") else "rope_parameters"
    given = values.get(name)
    if not accepted.turning or not isinstance(given, dict | None) or not isinstance(listed, list | None):
        return
    there = _entries(accepted, given)
    if listed is None:  # the class lists some of the usual kinds
        used = accepted.turning["usual"] if not accepted.turning["usual"] & there else frozenset[str]()
    else:
        used = frozenset(renamed().get(layer_kind, layer_kind) for layer_kind in listed if isinstance(layer_kind, str))
    lacking = sorted(used & accepted.turning.get("asked", used) & {*shared("layer_types")} - there)
    for kind in lacking:
        if kind in accepted.turning["usual"] | accepted.turning.get("absent", frozenset()):
            yield f"{name}.{kind}", ABSENT, "layers of this kind look there for their rotary positions"
        else:
            known = f" ({', '.join(sorted(there))})" if there else ""
            yield "layer_types", kind, f"a kind that {name} has an entry for{known}"


def _entries(accepted: AcceptedValues, given: Mapping[str, Any] | None) -> frozenset[str]:
    """The kinds of layers with rotary positions: those that the config gives, and those that the class brings."""
    if given is None:
        return accepted.turning.get("absent", frozenset())
    nested = frozenset(key for key in given if key in shared("layer_types"))
    return nested | accepted.turning.get("beside" if nested else "empty", frozenset())


def _lacks_theta(given: Any) -> bool:
    """Whether the base of the frequencies is read from beside the object that it belongs to."""
    return not given or (isinstance(given, dict) and "rope_theta" not in given)


def _checked(
    accepted: AcceptedValues, given: Mapping[str, Any], path: str, turns: bool, built: BuiltValues | None
) -> Iterator[Problem]:
    key = "rope_type" if "rope_type" in given else "type"
    kind = given.get(key, "default")
    known = (*shared("rope_types"), *sorted(accepted.rotates - {"default"}))
    if not isinstance(kind, str) or kind not in known:
        if turns:
            yield f"{path}{key}", kind, f"one of {', '.join(known)}"
        return
    for name in _NEEDED.get(kind, ()):
        if name not in given:
            yield f"{path}{name}", ABSENT, f'{key} "{kind}" needs it'
    if turns:
        read = (*(name for name in _READ if kind != "default" or not _is_unread(built, name)), *_NEEDED.get(kind, ()))
        yield from _numbers(given, path, [name for name in read if name in given])
        yield from _shares(given, path, built) if kind == "default" else ()
        yield from _numbers(given, path, [name for name in _OPTIONAL.get(kind, ()) if given.get(name) is not None])


def _shares(given: Mapping[str, Any], path: str, built: BuiltValues | None) -> Iterator[Problem]:
    """A negative share of the features that are turned, where no model is built with one."""
    share = given.get(_SHARE)
    below = isinstance(share, int | float) and share < 0
    if below and built and built.refuses("share_below", _SETTINGS):
        yield f"{path}{_SHARE}", share, "at least 0"


def _numbers(given: Mapping[str, Any], path: str, names: list[str]) -> Iterator[Problem]:
    """Those of these keys that hold no number, or no list of numbers."""
    for name in names:
        value = given[name]
        if name in _LISTS:
            if not isinstance(value, list) or any(type(item) not in (int, float) for item in value):
                yield f"{path}{name}", value, "a list of numbers"
        elif not isinstance(value, int | float):  # true is 1
            yield f"{path}{name}", value, "a number"
