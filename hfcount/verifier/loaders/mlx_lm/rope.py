"""Says where mlx-lm does not find the settings of rotary positions that transformers reads."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.loader_differences import usual_rotary
from hfcount.verifier.loaders.loader import ReadingOutcome
from hfcount.verifier.loaders.mlx_lm.facts import Facts

Values = Mapping[str, Any]

_KINDS = {"su": "longrope", "mrope": "default"}
_THETA, _SHARE = "rope_theta", "partial_rotary_factor"


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
    kind = str(spelt.get("rope_type", spelt.get("type", "default")))
    kind = _KINDS.get(kind, kind)
    usual = usual_rotary(str(part.get("model_type", model_type)))
    taken, share = row.rope.get("params", {}).get("partial"), inner.get(_SHARE, part.get(_SHARE))
    is_shared = _SHARE in part or type(taken) in (int, float)
    yield from _of_kind(row, kind, _form(part, inner, kind), _bases(part, settings, usual), is_shared, _SHARE in part)
    if share is not None and _SHARE not in part and (taken is True or (is_shared and taken != share)):
        yield "differs", f"does not find {_SHARE} {share} in rope_parameters"


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
            yield "differs", f"takes {_THETA} {theta:,} for {bases[layers]:,} of {layers}"
            return
    elif type(told) in (int, float) and bases.get("", told) != told:
        yield "differs", f"takes {_THETA} {told:,} for {bases['']:,}"


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
