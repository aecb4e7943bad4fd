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
    counted = values.get(accepted.stages, usual.get(accepted.stages)) if accepted.stages else None
    count = len(counted) if isinstance(counted, list) else counted
    if type(count) is not int or count < 1:
        return
    known = ["stem", *(f"stage{number}" for number in range(1, count + 1))]
    names, numbers = values.get("out_features"), values.get("out_indices")
    if isinstance(names, list) and names != [name for name in known if name in names]:
        yield "out_features", names, f"a list of stages, each once and in order, of {', '.join(known)}"
    elif isinstance(numbers, list) and all(type(number) is int for number in numbers):
        yield from _numbered(known, names, numbers)


def _numbered(known: list[str], names: Any, numbers: list[int]) -> Iterator[Problem]:
    """What is wrong with places of stages, and with names that are not of the same."""
    places = [number % len(known) if number < 0 else number for number in numbers]
    if places != sorted({*places}) or not {*places} <= {*range(len(known))}:
        yield "out_indices", numbers, f"a list of places, each once and in order, of {len(known)} stages"
    elif isinstance(names, list) and names != [known[place] for place in places]:
        yield "out_features", names, f"the stages of out_indices, {', '.join(known[place] for place in places)}"
