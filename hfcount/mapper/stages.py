"""Finds choices of a backbone's stages that transformers refuses (5.24.0, backbone_utils.py:78)."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.accepted_values import AcceptedValues, Problem
from hfcount.text import printable

_MOST, _FEW, _NAMED = 10_000, 3, 12
"""The stages that are looked at, those from which on the usual ones are not listed, and how many others are named."""


def stages(
    accepted: AcceptedValues, values: Mapping[str, Any], usual: Mapping[str, Any], path: str = ""
) -> Iterator[Problem]:
    """Names and numbers of stages that there are not, that are there twice, or not in order, or not the same.

    Args:
        accepted: what the class takes.
        values: the config.
        usual: the defaults of absent keys.
        path: the keys that lead to the config; what it names its stages counts where it is built as a backbone.
    """
    counted = values.get(accepted.stages, usual.get(accepted.stages)) if accepted.stages else None
    count = len(counted) if isinstance(counted, list) else counted
    own = values.get("stage_names")
    if _is_backbone(values, path) and isinstance(own, list) and own and all(isinstance(name, str) for name in own):
        stage_names = own  # in place of those of the class
    elif type(count) is int and 1 <= count <= _MOST:
        stage_names = [*map(_name, range(count + 1))]
    else:
        return
    names, numbers = values.get("out_features"), values.get("out_indices")
    chosen = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set[str]()
    if isinstance(names, list) and names != [name for name in stage_names if name in chosen]:
        yield "out_features", names, f"a list of stages, each once and in order, of {_listed(stage_names)}"
    elif isinstance(numbers, list) and all(type(number) is int for number in numbers):
        yield from _numbered(stage_names, names, numbers)


def _is_backbone(values: Mapping[str, Any], path: str) -> bool:
    """Whether a model of it is built as a backbone, which looks up its stages by name (5.24.0, backbone_utils.py)."""
    return path.endswith("backbone_config.") or "Backbone" in str(values.get("architectures"))


def _numbered(stage_names: list[str], names: Any, numbers: list[int]) -> Iterator[Problem]:
    """What is wrong with places of stages, and with names that are not of the same."""
    places = [number % len(stage_names) if number < 0 else number for number in numbers]
    if not _are_places(places, len(stage_names) - 1):
        yield "out_indices", numbers, f"a list of places, each once and in order, of {len(stage_names):,} stages"
    elif isinstance(names, list) and names != [stage_names[place] for place in places]:
        chosen = _written([stage_names[place] for place in places])
        yield "out_features", names, f"the stages of out_indices, {chosen}"


def _listed(stage_names: list[str]) -> str:
    """Names of stages; of the usual ones the first and the last."""
    usual = [*map(_name, range(len(stage_names)))]
    if stage_names != usual or len(usual) < _FEW:
        more = f" and {len(stage_names) - _NAMED:,} more" if len(stage_names) > _NAMED else ""
        return f"{_written(stage_names[:_NAMED])}{more}"
    return f"stem and stage1 to {usual[-1]}"


def _written(stage_names: list[str]) -> str:
    return printable(", ".join(stage_names), 300)


def _are_places(places: list[int], count: int) -> bool:
    """Whether these are places from 0 to `count`, each once and in order."""
    return places == sorted({*places}) and all(0 <= place <= count for place in places)


def _name(place: int) -> str:
    return f"stage{place}" if place else "stem"
