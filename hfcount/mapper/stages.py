"""Finds choices of a backbone's stages that transformers refuses (5.24.0, backbone_utils.py:40)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hfcount.mapper.accepted_values import AcceptedValues, Problem
from hfcount.text import printable

_MOST, _FEW, _NAMED = 10_000, 3, 12
"""The stages that are looked at, those from which on the usual ones are not listed, and how many others are named."""

_OWN = "stage_names"


class _Chosen(NamedTuple):
    """The stages whose features are given out, by name and by place; None where the config does not say."""

    names: list[Any] | None
    places: list[int] | None


def stages(
    accepted: AcceptedValues, values: Mapping[str, Any], usual: Mapping[str, Any], path: str = ""
) -> Iterator[Problem]:
    """Names and numbers of stages that there are not, that are there twice, or not in order, or not the same.

    The class looks them up in names of its own; a backbone looks them up again in those that the config gives.

    Args:
        accepted: what the class takes.
        values: the config.
        usual: the defaults of absent keys.
        path: the keys that lead to the config; what it names its stages counts where it is built as a backbone.
    """
    names, places = values.get("out_features"), values.get("out_indices")
    if not (_is_list_of(names, str) and _is_list_of(places, int)):
        return
    chosen, usual_names = _Chosen(names, places), _of_class(accepted, values, usual)
    found = [*_wrong(usual_names, chosen)] if usual_names else []
    yield from found
    if not found and _OWN in values and _is_backbone(values, path):
        yield from _renamed(accepted, values[_OWN], chosen, usual_names)


def _is_list_of(value: Any, kind: type) -> bool:
    return value is None or (isinstance(value, list) and all(type(one) is kind for one in value))


def _of_class(accepted: AcceptedValues, values: Mapping[str, Any], usual: Mapping[str, Any]) -> list[str] | None:
    """The names that the class gives to its stages; None if it has none, or too many."""
    key, _, absent = accepted.stages.partition(" ")
    counted = int(key) if key.isdecimal() else values.get(key, usual.get(key)) if key else None
    count = len(counted) if isinstance(counted, list) else int(absent) if counted is None and absent else counted
    if type(count) is not int or not 1 <= count <= _MOST:
        return None
    return [_name(place) for place in range(int(accepted.stemless), count + 1)]


def _is_backbone(values: Mapping[str, Any], path: str) -> bool:
    """Whether a model of it is built as a backbone, which looks up its stages by name (5.24.0, backbone_utils.py)."""
    return path.endswith("backbone_config.") or "Backbone" in str(values.get("architectures"))


def _wrong(stage_names: list[str], chosen: _Chosen) -> Iterator[Problem]:
    """What is wrong with names, with places, and with names that are not of the same places."""
    names, places = chosen
    if names is not None and names != _in_order(stage_names, names):
        yield "out_features", names, f"a list of stages, each once and in order, of {_listed(stage_names)}"
        return
    if places is None:
        return
    positive = [place % len(stage_names) if place < 0 else place for place in places]
    if not _are_places(positive, len(stage_names) - 1):
        yield "out_indices", places, f"a list of places, each once and in order, of {len(stage_names):,} stages"
    elif names is not None and names != [stage_names[place] for place in positive]:
        at_places = _written([stage_names[place] for place in positive])
        yield "out_features", names, f"the stages of out_indices, {at_places}"


def _renamed(accepted: AcceptedValues, own: Any, chosen: _Chosen, usual_names: list[str] | None) -> Iterator[Problem]:
    """What is wrong with the names that a config gives to stages, which have to be those chosen at their places."""
    if usual_names is None:  # its models name them
        if isinstance(own, list) and own and all(isinstance(name, str) for name in own):
            yield from _wrong(own, chosen)
        return
    names, places = _aligned(chosen, usual_names)
    among = own if isinstance(own, list) else None
    if among is None and (names or not isinstance(own, str | dict)):
        yield _OWN, own, f"a list of names, such as {_listed(usual_names)}"
    elif among is not None and (
        names != _in_order(among, names)
        or any(
            not -len(among) <= place < len(among) or among[place] != name
            for name, place in zip(names, places, strict=False)
        )
    ):
        at = ", ".join(map(str, places[:_NAMED]))
        yield _OWN, own, f"a list with {_written(names[:_NAMED])} at {at}, counted from 0, and nowhere else"
    elif among is not None and accepted.measured and len(among) > len(usual_names):
        yield _OWN, own, f"a list of at most {len(usual_names):,} stages, which are all that there are"


def _aligned(chosen: _Chosen, stage_names: list[str]) -> tuple[list[Any], list[int]]:
    """The names and places of the chosen stages, each by the other where one is not given; else the last stage."""
    names, places = chosen
    if names is None and places is None:
        return [stage_names[-1]], [len(stage_names) - 1]
    if names is None:
        return [stage_names[place] for place in places or ()], places or []
    at = {name: place for place, name in enumerate(stage_names)}
    return names, [at[name] for name in names] if places is None else places


def _in_order(stage_names: Sequence[Any], names: list[Any]) -> list[Any]:
    """Those of the stages that are named, in their own order."""
    chosen = {name for name in names if isinstance(name, str)}
    return [name for name in stage_names if isinstance(name, str) and name in chosen]


def _listed(stage_names: list[str]) -> str:
    """Names of stages; of the usual ones the first and the last."""
    if len(stage_names) >= _FEW and stage_names == [*map(_name, range(len(stage_names)))]:
        return f"stem and stage1 to {stage_names[-1]}"
    more = f" and {len(stage_names) - _NAMED:,} more" if len(stage_names) > _NAMED else ""
    return f"{_written(stage_names[:_NAMED])}{more}"


def _written(stage_names: list[Any]) -> str:
    return printable(", ".join(map(str, stage_names)), 300)


def _are_places(places: list[int], count: int) -> bool:
    """Whether these are places from 0 to `count`, each once and in order."""
    return places == sorted({*places}) and all(0 <= place <= count for place in places)


def _name(place: int) -> str:
    return f"stage{place}" if place else "stem"
