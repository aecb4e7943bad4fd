"""Config keys that transformers 4.57, 5.23 and vLLM 0.33 read differently (recorded by tests/tools/readers.py)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.mapper.class_defaults import declared
from hfcount.mapper.keys_without_shape import may_bear
from hfcount.mapper.rotary_tables import RotaryTables, rotary_forms, rotary_tables

NEWER, OLDER, VLLM = "transformers 5.23", "transformers 4.57", "vLLM 0.33"
SGLANG = "SGLang 0.5.23"  # whose source was read for other facts

Values = Mapping[str, Any]

TIE = "tie_word_embeddings"
"""The key that ties the head to the embedding."""

_TEXT = "text_config"

# vLLM 0.33 takes the flag that transformers 5.23 has on the whole model (vllm/config/vllm.py, with_hf_config), where a
# class asks for another (Llama 4's, in a model of its own within), too; Idefics 3's asks for the language model's
# (vllm/model_executor/models/idefics3.py, Idefics3ForConditionalGeneration.__init__).
_VLLM = {"llama4": "", "idefics3": _TEXT, "smolvlm": _TEXT}

# Names in version 4, by the kind of layer; the first that a type has counts.
_BASES = {
    "full_attention": ("rotary_emb_base", "global_rope_theta", "rope_theta"),
    "sliding_attention": ("rope_local_base_freq", "local_rope_theta", "rope_theta"),
}
_SHARES = ("rotary_pct", "partial_rotary_factor")
_SAME_KINDS = (("su", "longrope"), ("mrope", "default"))
"""Names of a kind in `type` and in rope_type, which all read alike."""

_ELSEWHERE = {"rope_theta", "rope_type", "type", "partial_rotary_factor", "original_max_position_embeddings"}


class TieDifference(NamedTuple):
    """A reader that ties the head otherwise than 5.23; `place` is the full path of the key that it reads.

    `absent` is what text_config stands for where it is absent, so that it can be written there with the flag.
    """

    reader: str
    tied: bool
    place: str
    absent: Mapping[str, Any] | None = None


def usual_rotary(kind: Any) -> Mapping[str, Any]:
    """The rotary positions of a type whose config says nothing of them, as 5.23 takes them; empty if it has none."""
    settings = _recorded()["newer"].get(kind) if isinstance(kind, str) else None
    return settings or {}


def own_head(readers: Iterable[TieDifference]) -> bool:
    """Whether 4.57 takes a stored head for one of the model's own, where 5.23 finds that by its values alone."""
    return any(difference.reader == OLDER and not difference.tied for difference in readers)


class MovedSizes(NamedTuple):
    """Sizes that 4.57 takes from the top level where text_config is absent, and 5.23 does not; in elements, by key.

    Args:
        newer: the defaults of text_config, which 5.23 takes; `taken` is what 4.57 takes.
        beside: what else 4.57 takes for the language model.
    """

    newer: Mapping[str, int]
    taken: Mapping[str, int]
    beside: Mapping[str, Any]


class RotaryDifference(NamedTuple):
    """A setting of rotary positions that 4.57 does not find where 5.23 does.

    Args:
        key: its full path in version 5's spelling; `older` is where version 4 looks.
        newer: what 5.23 and vLLM 0.33 take; `taken` is what 4.57 takes.
        writes: what the config would have to say besides, by key, so that all take the same; empty if 4.57 cannot.
        of_vllm: whether vLLM 0.33 takes what 5.23 does.
    """

    key: str
    older: str
    newer: Any
    taken: Any
    writes: Mapping[str, Any]
    of_vllm: bool = True


@cache
def _recorded() -> Mapping[str, Mapping[str, Any]]:
    recorded: Mapping[str, Mapping[str, Any]] = json.loads((Path(__file__).parent / "readers.json").read_text())
    return recorded


def ties(values: Values, kind: Any, tied: bool) -> tuple[TieDifference, ...]:
    """The readers that tie the head where 5.23 does not, or the other way round.

    Args:
        values: config.json.
        kind: its model_type.
        tied: whether 5.23 ties it.
    """
    text = values.get(_TEXT)
    if not isinstance(kind, str) or not isinstance(text, dict | None):
        return ()
    older, differences = _recorded()["older"], list[TieDifference]()
    part, outer = declared(kind).part(_TEXT, text), older.get(kind, {})
    inner = older.get(part.kind)
    if inner is not None and outer.get("text") == _TEXT:
        at_top = text is None and TIE in outer.get("top", ())
        usual = inner.get("tied", True)
        usual = outer.get("alone", usual) if text is None else usual
        flag = (values if at_top else text or {}).get(TIE, usual)
        absent = {"model_type": part.kind, **part.absent} if text is None else None
        differences.append(TieDifference(OLDER, bool(flag), TIE if at_top else f"{_TEXT}.{TIE}", absent))
    if kind in _VLLM and text is not None:
        place = _VLLM[kind]
        default = declared(kind).keys.get(TIE, False) if not place else False
        flag = (text if place else values).get(TIE, default)
        differences.append(TieDifference(VLLM, bool(flag), f"{place and place + '.'}{TIE}"))
    return tuple(difference for difference in differences if difference.tied != tied)


def older_flag(values: Values, kind: str) -> bool | None:
    """Whether 4.57 reads that the head is tied; None for a type that it does not have, or whose flag is nested."""
    row = _recorded()["older"].get(kind)
    if row is None or "text" in row:
        return None
    return bool(values.get(TIE, row.get("tied", True)))


def moved(values: Values, kind: Any) -> MovedSizes | None:
    """The sizes at the top level that 4.57 takes for the language model, and 5.23 does not; None if none is another."""
    names = _recorded()["moved"].get(kind, ()) if isinstance(kind, str) else ()
    if not names or values.get(_TEXT) is not None:
        return None
    part = declared(kind).part(_TEXT, None)
    usual = {**declared(part.kind).keys, **part.absent}
    sizes = [name for name in names if type(values.get(name)) is int and type(usual.get(name)) is int]
    taken = {name: values[name] for name in sizes if values[name] != usual[name] and may_bear(name, values[name])}
    beside = {name: values[name] for name in names if name in values and name not in taken}
    return MovedSizes({name: usual[name] for name in taken}, taken, beside) if taken else None


def rotary(values: Values, kind: Any, path: str = "", within: str = "") -> Iterator[RotaryDifference]:
    """The settings of rotary positions that 4.57 takes otherwise, in a config and in those nested in it.

    Args:
        path: of the config, with a dot at its end.
        within: the type of the config that it is nested in, and its key there, each with a dot behind it.
    """
    if not isinstance(kind, str):
        return
    known = declared(kind)
    for name, value in values.items():
        if isinstance(value, dict) and name in known.parts:
            yield from rotary(value, known.part(name, value).kind, f"{path}{name}.", f"{kind}.{name}.")
    older, newer = (_usual(_recorded()[part], kind, within) for part in ("older", "newer"))
    if older and newer:
        yield from _of_one(values, kind, path, older, newer)


def _of_one(values: Values, kind: str, path: str, older: Values, newer: Values) -> Iterator[RotaryDifference]:
    """The settings that differ in one config; `older` and `newer` are what its absent keys mean."""
    settings = values.get("rope_scaling") or values.get("rope_parameters")
    is_set = settings is not None or any(name in values for names in _BASES.values() for name in names)
    if is_set and not isinstance(settings, dict):
        return  # both read the spelling of version 4
    before, now = (rotary_tables(kind, _recorded()["versions"][part]) for part in ("older", "newer"))
    usual = declared(kind).keys
    forms = [*rotary_forms(values, usual, older=False)]
    if any(word in now.refused.get(form, "").split() for form, word in forms):
        return  # it takes nothing at all
    if before.typed and not now.typed:
        yield from _kinds(values.get("rope_scaling") or {}, path)
    yield from _unscaled(values, usual, before, now, path)
    if any(word in now.unread.get(form, "").split() for form, word in forms):
        return  # both take what is said elsewhere, or the defaults
    yield from _differing(values, settings or {}, older, newer, path)


def _usual(rows: Mapping[str, Any], kind: str, within: str) -> Any:
    """What absent keys of a type mean, by the config that it is nested in if that brings defaults of its own."""
    return rows.get(f"{within}{kind}") or rows.get(kind)


def _kinds(given: Values, path: str) -> Iterator[RotaryDifference]:
    """The kind in `type`, which 4.57 takes before that in rope_type; vLLM 0.33 refuses both, if they are not alike."""
    old, new = given.get("type"), given.get("rope_type")
    if isinstance(old, str) and isinstance(new, str) and old != new and (old, new) not in _SAME_KINDS:
        writes = {f"{path}rope_scaling": {name: value for name, value in given.items() if name != "type"}}
        place = f"{path}rope_scaling"
        yield RotaryDifference(f"{place}.rope_type", f"{place}.type", new, old, writes, of_vllm=False)


def _unscaled(
    values: Values, usual: Values, before: RotaryTables, now: RotaryTables, path: str
) -> Iterator[RotaryDifference]:
    """How positions are scaled by rope_scaling, where 4.57 does not look at all of it."""
    given, name, length = (
        values.get("rope_scaling") or {},
        "original_max_position_embeddings",
        "max_position_embeddings",
    )
    for form, kind in [*rotary_forms(values, usual, older=True)][:1]:
        if kind in before.unscaled.get(form, "").split() and kind not in now.unscaled.get(form, "").split():
            yield RotaryDifference(f"{path}rope_scaling", f"{path}rope_theta", kind, "default", {})
        here, taken = values.get(name), values.get(length, usual.get(length))
        if kind in now.top - before.top and _number(here) and _number(taken) and here != taken and not given.get(name):
            writes = {f"{path}rope_scaling": {**given, name: here}}
            yield RotaryDifference(f"{path}rope_scaling.{name}", f"{path}{length}", here, taken, writes)


def _differing(values: Values, settings: Values, older: Values, newer: Values, path: str) -> Iterator[RotaryDifference]:
    nested, asked = any(isinstance(entry, dict) for entry in (settings or newer).values()), set[str]()
    for layers, names in _BASES.items():
        base = next((name for name in names if name in older), None)
        given, usual = (settings.get(layers), newer.get(layers)) if nested else (settings, newer)
        if base is None or base in asked or not isinstance(given or {}, dict) or (asked and not nested):
            continue
        asked.add(base)
        place = f"{path}rope_parameters.{f'{layers}.' if nested else ''}"
        yield from _one(values, given or {}, usual or {}, older, base, (path, place))
        if layers == "full_attention" and given and not values.get("rope_scaling"):
            yield from _scaled(given, (usual or {}).get("rope_type"), older, (path, place))


def _one(
    values: Values, given: Values, usual: Values, older: Values, base: str, places: tuple[str, str]
) -> Iterator[RotaryDifference]:
    path, place = places
    share = next((name for name in _SHARES if name in older), None)
    for key, name in (("rope_theta", base), ("partial_rotary_factor", share)):
        if name is None:
            continue
        taken = values.get(name, older[name])
        current = given.get(key, values.get(name, usual.get(key)))
        if _number(taken) and _number(current) and taken != current:
            yield RotaryDifference(f"{place}{key}", f"{path}{name}", current, taken, {f"{path}{name}": current})


def _scaled(given: Values, usual: Any, older: Values, places: tuple[str, str]) -> Iterator[RotaryDifference]:
    path, place = places
    taken, current = _scaling(older.get("rope_scaling") or {}), _scaling(given)
    if not taken and current.get("rope_type") == usual:
        current = _scaling({**given, "rope_type": "default"})  # version 4 has no name for what the type always does
    if taken != current:
        kind = given.get("rope_type", given.get("type", "default"))
        # Early classes of version 4 take no more keys than they need, and name the kind otherwise.
        writes = {older.get("scaling", "rope_type"): kind} | {
            name: value for name, value in given.items() if name not in ("rope_type", "type", "rope_theta")
        }
        written = {f"{path}rope_scaling": writes} if "rope_scaling" in older else {}
        ours, theirs = (scaling.get("rope_type", "default") for scaling in (current, taken))
        yield RotaryDifference(place.rstrip("."), f"{path}rope_scaling", ours, theirs, written)


def _scaling(settings: Values) -> Values:
    """How positions are scaled, without what is said elsewhere; empty if they are not."""
    kind = settings.get("rope_type", settings.get("type", "default"))
    rest = {name: value for name, value in settings.items() if name not in _ELSEWHERE and value is not None}
    return rest if kind == "default" else {**rest, "rope_type": kind}


def _number(value: Any) -> bool:
    return type(value) in (int, float)
