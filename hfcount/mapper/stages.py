"""Finds choices of a backbone's stages that transformers refuses (5.24.0, backbone_utils.py:78)."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.accepted_values import AcceptedValues, Problem


def stages(accepted: AcceptedValues, values: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[Problem]:
    """Names and numbers of stages that there are not, that are there twice, or not in order, or not the same.

    Args:
        accepted: what the class takes.
        values: the config.
        usual: the defaults of absent keys.
    """
    own = values.get("stage_names")
    if isinstance(own, list) and all(isinstance(name, str) for name in own):
        yield from _named(own, values.get("out_features"))
        return
    counted = values.get(accepted.stages, usual.get(accepted.stages)) if accepted.stages else None
    count = len(counted) if isinstance(counted, list) else counted
    if type(count) is not int or count < 1:
        return
    names, numbers = values.get("out_features"), values.get("out_indices")
    if isinstance(names, list) and not _are_places([_place(name) for name in names], count):
        last = f"stage1 to {_name(count)}" if count > 1 else _name(count)
        yield "out_features", names, f"a list of stages, each once and in order, of stem and {last}"
    elif isinstance(numbers, list) and all(type(number) is int for number in numbers):
        yield from _numbered(count, names, numbers)


def _named(own: list[str], chosen: Any) -> Iterator[Problem]:
    """What is wrong with a choice of stages that a config names itself, in place of the class."""
    if isinstance(chosen, list) and chosen != [name for name in own if name in chosen]:
        yield "out_features", chosen, f"a list of stages, each once and in order, of {', '.join(own)}"


def _numbered(count: int, names: Any, numbers: list[int]) -> Iterator[Problem]:
    """What is wrong with places of stages, and with names that are not of the same."""
    places = [number % (count + 1) if number < 0 else number for number in numbers]
    if not _are_places(places, count):
        yield "out_indices", numbers, f"a list of places, each once and in order, of {count + 1:,} stages"
    elif isinstance(names, list) and names != [*map(_name, places)]:
        yield "out_features", names, f"the stages of out_indices, {', '.join(map(_name, places))}"


def _are_places(places: list[int], count: int) -> bool:
    """Whether these are places from 0 to `count`, each once and in order."""
    return places == sorted({*places}) and all(0 <= place <= count for place in places)


def _place(name: Any) -> int:
    """The place of a stage, -1 if that is no name of one."""
    number = name.removeprefix("stage") if isinstance(name, str) else ""
    if name == "stem":
        return 0
    return int(number) if number.isdecimal() and len(number) < 20 and name == f"stage{int(number)}" != "stage0" else -1


def _name(place: int) -> str:
    return f"stage{place}" if place else "stem"
