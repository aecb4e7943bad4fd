"""Says where mlx-lm does not find the settings of rotary positions that transformers reads."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from hfcount.mapper.loader_differences import usual_rotary
from hfcount.text import shown
from hfcount.verifier.loaders.loader import ReadingOutcome
from hfcount.verifier.loaders.mlx_lm.facts import Facts

Values = Mapping[str, Any]

_KINDS = {"su": "longrope", "mrope": "default"}
_THETA, _SHARE, _SCALING, _PARAMETERS = "rope_theta", "partial_rotary_factor", "rope_scaling", "rope_parameters"
_LOCAL = "rope_local_base_freq"
_FURTHER_NAMES = {_THETA: ("rotary_emb_base",), _SHARE: ("rotary_pct",), _LOCAL: ("swa_rope_theta",)}
"""Names that classes of mlx-lm need in place of these."""


def differences(row: Facts, values: Values, model_type: str) -> Iterator[tuple[ReadingOutcome, str]]:
    """What it refuses, or reads otherwise."""
    text = values.get("text_config")
    part = text if isinstance(text, dict) else values
    if not row.rope:
        return
    settings, scaling = part.get("rope_parameters"), part.get("rope_scaling")
    settings = settings if isinstance(settings, dict) and settings else {}
    nested = isinstance(settings.get("full_attention"), dict)
    inner: Values = settings["full_attention"] if nested else settings
    spelt = inner or (scaling if isinstance(scaling, dict) else {})
    kind = _word(spelt.get("rope_type", spelt.get("type", "default")))
    kind = _KINDS.get(kind, kind)
    usual = usual_rotary(_word(part.get("model_type", model_type)))
    taken, share = row.rope.get("params", {}).get("partial"), inner.get(_SHARE, part.get(_SHARE))
    is_shared = _SHARE in part or type(taken) in (int, float)
    if not nested and row.rope.get("params", {}).get(kind):
        yield from _of_two_bases(part, inner)
    if not inner and _is_read_by_type(row, spelt):
        yield "differs", f"takes type {spelt['type']} of rope_scaling, and transformers rope_type {kind}"
    yield from _of_kind(row, kind, _form(part, inner, kind), _bases(part, settings, usual), is_shared, _SHARE in part)
    if share is not None and _SHARE not in part and (taken is True or (is_shared and taken != share)):
        yield "differs", f"does not find {_SHARE} {_number(share)} in rope_parameters"


def _of_two_bases(part: Values, settings: Values) -> Iterator[tuple[ReadingOutcome, str]]:
    """A flat base beside another one in rope_parameters."""
    theta = part.get(_THETA)
    if theta is not None and _THETA in settings and settings[_THETA] != theta:
        yield "differs", f"takes {_THETA} {_number(theta)} for {_number(settings[_THETA])}, which rope_parameters says"


def _is_read_by_type(row: Facts, scaling: Values) -> bool:
    """Whether settings name two kinds, of which mlx-lm takes `type` (mlx_lm/models/rope_utils.py:299 of 0.32.2)."""
    new, old = scaling.get("rope_type"), scaling.get("type")
    if not isinstance(new, str) or not isinstance(old, str) or _KINDS.get(old, old) == _KINDS.get(new, new):
        return False
    return new not in row.rope.get("flat", {})


def flat_keys(row: Facts, values: Values, model_type: str) -> dict[str, Any]:
    """The flat keys that say what rope_parameters says, by their full paths; empty if that has no such settings.

    Args:
        row: what is recorded of the type, which names the keys that its class needs.
        values: config.json.
        model_type: the type.
    """
    text = values.get("text_config")
    part, prefix = (text, "text_config.") if isinstance(text, dict) else (values, "")
    settings = part.get(_PARAMETERS)
    if not isinstance(settings, dict) or not settings or part.get(_SCALING):
        return {}
    usual = usual_rotary(_word(part.get("model_type", model_type)))
    needed = {key.removeprefix(prefix) for key in row.needs}
    found = written_flat(_completed(settings, part, usual), "rope_type")
    for key, names in _FURTHER_NAMES.items():
        found |= {name: found[key] for name in names if key in found and name in needed}
    if found.get(_SCALING) is None and _SCALING not in needed:
        found.pop(_SCALING, None)
    return {f"{prefix}{key}": value for key, value in found.items() if key not in part or part[key] != value}


def _completed(settings: Values, part: Values, usual: Values) -> Values:
    """The settings with the bases that stand elsewhere, or are the type's own."""
    if not any(isinstance(entry, dict) for entry in settings.values()):
        theta = settings.get(_THETA, part.get(_THETA, usual.get(_THETA)))
        return settings if theta is None else {**settings, _THETA: theta}
    bases = _bases(part, settings, usual)
    return {
        layers: {**entry, _THETA: bases[layers]} if isinstance(entry, dict) and layers in bases else entry
        for layers, entry in settings.items()
    }


def written_flat(settings: Values, word: str) -> dict[str, Any]:
    """The flat keys for what rope_parameters says; `word` is how the kind is called in rope_scaling."""
    local: dict[str, Any] = {}
    if "full_attention" in settings:
        local = {_LOCAL: _entries(settings.get("sliding_attention")).get(_THETA)}
        settings = _entries(settings["full_attention"])
    rest = {key: value for key, value in settings.items() if key not in (_THETA, "rope_type", _SHARE)}
    kind = settings.get("rope_type", "default")
    found = {
        _THETA: settings.get(_THETA),
        _SCALING: None if kind == "default" else {word: kind, **rest},
    }
    if _SHARE in settings:
        found[_SHARE] = settings[_SHARE]
    return {key: value for key, value in (found | local).items() if value is not None or key == _SCALING}


def _entries(value: Any) -> Values:
    """The settings of one kind of layers; none where the value is no object."""
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str:
    """The text under a key, or what stands there in its place as a message repeats it."""
    return value if isinstance(value, str) else shown(value)


def _number(value: Any) -> str:
    """A setting that should be a number, with its thousands apart; anything else as a message repeats it."""
    return f"{value:,}" if isinstance(value, float) and isfinite(value) else shown(value)


def _of_kind(
    row: Facts, kind: str, form: str, bases: Values, is_shared: bool, is_beside: bool
) -> Iterator[tuple[ReadingOutcome, str]]:
    """What is made of settings of a kind in a form.

    Args:
        is_shared: whether it is known what share of a head is rotated; `is_beside`: whether that is a flat key.
    """
    by_kind = row.rope.get(form, {})
    told = by_kind.get(kind)
    place = "rope_parameters" if form == "params" else "rope_scaling"
    if kind not in by_kind and isinstance(default := by_kind.get("default"), str):
        told = default
    if isinstance(told, str):
        yield "refuses", f"refuses these rotary settings: {told}"
    elif told is not None and kind != "default":
        yield "differs", f"does not read rope_type {kind} in {place}"
    elif (
        told is not None and form == "none" and not is_beside
    ):  # what transformers takes where nothing is said is another
        yield "differs", "takes other rotary settings where none are written"
    elif told is True and not is_shared:
        yield "differs", f"reads {place} otherwise"
    elif isinstance(told, dict):
        other = {layers: theta for layers, theta in told.items() if bases.get(layers, theta) != theta}
        for layers, theta in other.items():
            yield "differs", f"takes {_THETA} {_number(theta)} for {_number(bases[layers])} of {layers}"
            return
    elif type(told) in (int, float) and bases.get("", told) != told:
        yield "differs", f"takes {_THETA} {_number(told)} for {_number(bases[''])}"


def _form(part: Values, inner: Values, kind: str) -> str:
    """The way in which the settings are written."""
    flat_scaling = part.get("rope_scaling")
    is_flat = part.get(_THETA) is not None
    if inner:
        if kind == "default":
            return "both" if is_flat else "params"
        return "both" if isinstance(flat_scaling, dict) and is_flat else "params"
    if isinstance(flat_scaling, dict) and flat_scaling:
        return "old" if "type" in flat_scaling and "rope_type" not in flat_scaling else "flat"
    return "flat" if is_flat else "none"


def _bases(part: Values, settings: Values, usual: Values) -> dict[str, Any]:
    """The bases that transformers takes, by the kind of layer; "" where there is one for all."""
    if not any(isinstance(entry, dict) for entry in (settings or usual).values()):
        theta = settings.get(_THETA, part.get(_THETA, usual.get(_THETA)))
        return {"": theta} if type(theta) in (int, float) else {}
    found = {}
    for layers in ("full_attention", "sliding_attention"):
        entry, default = settings.get(layers), usual.get(layers)
        theta = entry.get(_THETA) if isinstance(entry, dict) else None
        if theta is None and isinstance(default, dict):
            theta = part.get("rope_local_base_freq" if layers == "sliding_attention" else _THETA, default.get(_THETA))
        if type(theta) in (int, float):
            found[layers] = theta
    return found
