"""Finds the keys by which a version of transformers refuses a config or reads other sizes, by changing each."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import combinations, product
from typing import Any, NamedTuple

from loading import Case, Json, Shapes, built, defaults, nested

SECONDS = 40.0
"""How long one looks for them."""


class Search(NamedTuple):
    """The keys by which a config is refused."""

    needs: list[str]
    refuses: list[list[Any]]
    sizes: list[list[Any]]


def search(case: Case) -> Search | None:
    """Why a case is refused, or read in other sizes; None if that was not found."""
    ends = time.monotonic() + SECONDS
    first = built(case)
    if not isinstance(first, str):
        return _sizes(case, first, ends) if first else None
    needs = [path for path, value in _defaults(case) if time.monotonic() < ends and _cured(case, path, value)]
    if needs := needs or _others(case, ends):
        return Search(needs, [], [])
    refuses: list[list[Any]] = []
    for path, value in list(_paths(case.config)):
        if time.monotonic() > ends:
            break
        if path in ("model_type", "architectures") or value is None:
            continue
        if (said := [*_values(case, path, value)]) or _cured(case, path):
            refuses.append([path, first, *said])
    refuses = [one for one in refuses if one[2:] != [[]]]
    deepest = [one for one in refuses if not any(other[0].startswith(f"{one[0]}.") for other in refuses)]
    return Search([], deepest, []) if deepest else None


def _others(case: Case, ends: float) -> list[str]:
    """The fewest keys, three at most, that have to say another value than this version's default: "key=value"."""
    from hfcount.mapper.class_defaults import declared

    absent = [
        (path + key, False if value is True else None)
        for path, values, kind in _classes(case)
        for key, value in defaults(kind).items()
        if key not in values and (value is True or isinstance(value, str)) and key not in declared(kind.model_type).keys
    ]
    for count in (1, 2, 3):
        for chosen in combinations(absent, count):
            if time.monotonic() > ends:
                return []
            tried = case
            for path, value in chosen:
                tried = _with(tried, path, value)
            if not isinstance(built(tried), str):
                return [f"{path}={json.dumps(value)}" for path, value in chosen]
    return []


def _cured(case: Case, path: str, *value: Any) -> bool:
    """Whether it can be built with a key of this value, or without it if none is given."""
    return not isinstance(built(_with(case, path, *value)), str)


def _values(case: Case, path: str, value: Any) -> Iterator[list[Any]]:
    """The values, or words of a list, that are refused, if others are taken; an empty list if no few values say it."""
    own = next((kind for place, _, kind in _classes(case) if place == path[: path.rfind(".") + 1]), None)
    key = path.rpartition(".")[2]
    usual = defaults(own).get(key) if own else None
    if isinstance(value, bool):
        if _cured(case, path, not value):
            yield [value]
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        known = {"mamba", "attention", "full_attention", "hybrid"}
        wrong = sorted(set(value) - {"attention", "full_attention", "sliding_attention", "hybrid"})
        for other in sorted(known - set(value)):
            if wrong and _cured(case, path, [other if one in wrong else one for one in value]):
                yield wrong
                return
    elif type(value) is type(usual) and value != usual and _cured(case, path, usual):
        yield []


def _with(case: Case, path: str, *value: Any) -> Case:
    config = deepcopy(case.config)
    *outer, last = path.split(".")
    place = config
    for name in outer:
        place = place.setdefault(name, {})
    if value:
        place[last] = deepcopy(value[0])
    else:
        place.pop(last, None)
    return case._replace(config=config)


def _paths(values: Json, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        yield path + name, value
        if isinstance(value, dict):
            yield from _paths(value, f"{path}{name}.")


def _classes(case: Case) -> Iterator[tuple[str, Json, Any]]:
    """Each config in the case: where it is, what it says, and its class in this version."""
    import transformers

    kind = getattr(transformers, case.name).config_class
    if kind.model_type != case.config.get("model_type"):
        kind = transformers.CONFIG_MAPPING[case.kind]
    yield "", case.config, kind
    for name, value in case.config.items():
        if isinstance(value, dict):
            own = nested(kind).get(name)
            if value.get("model_type") in transformers.CONFIG_MAPPING:
                own = transformers.CONFIG_MAPPING[value["model_type"]]
            if own is None:
                try:
                    own = type(getattr(kind(), name))
                except Exception:  # a class that needs more than that
                    continue
            if hasattr(own, "attribute_map"):
                yield f"{name}.", value, own


def _defaults(case: Case) -> Iterator[tuple[str, Any]]:
    """The keys that this version has by default, and the case has not."""
    for path, values, kind in _classes(case):
        usual = defaults(kind)
        with suppress(Exception):  # a class that needs more than that
            usual |= {key: value for key, value in kind().to_dict().items() if key not in usual or usual[key] is None}
        for key in usual:
            value = usual.get(key)
            if key == "rope_scaling" and key in usual and not value:
                value = rotary(values)
            if values.get(key) is None and value is not None and not key.startswith(("_", "transformers")):
                yield path + key, value


def rotary(values: Json) -> Json:
    """What version 4 calls rope_scaling."""
    found = values.get("rope_parameters")
    if not isinstance(found, dict):
        return {"rope_type": "default"}
    return {key: value for key, value in found.items() if key != "rope_theta"}


def _sizes(case: Case, wrong: Shapes, ends: float) -> Search | None:
    """The keys whose sizes this version reads under another name, one after another."""
    found: list[list[Any]] = []
    while wrong:
        places = [(path, values, *_names(values, kind)) for path, values, kind in _classes(case)]
        tries = [
            (one != other, values[one], path + one, place + other, usual[other])
            for (path, values, new, *_), (place, _, _, old, usual) in product(places, places)
            for one, other in product(new, old)
            if path == place or one == other
        ]
        for _, value, new, old, absent in sorted(tries, key=lambda row: row[0]):  # the same name elsewhere first
            if time.monotonic() > ends:
                return None
            if _fits(value, absent, wrong):
                tried = _with(case, old, value)
                left = built(tried)
                if not isinstance(left, str) and len(left) < len(wrong):
                    wrong, case = left, tried
                    found.append([new, old, absent])
                    break
        else:
            break
    if wrong:
        row = _instead(case, wrong)
        found, wrong = ([*found, row], []) if row else ([], wrong)
    return Search([], [], found) if found else None


def _fits(value: Any, usual: Any, wrong: Shapes) -> bool:
    """Whether shapes may differ by a size as one says and the other has it."""
    if type(value) is not int or type(usual) is not int:
        return True
    return any(one * usual == other * value for one, other in _differing(wrong))


def _differing(wrong: Shapes) -> set[tuple[int, int]]:
    alike = ((stored, shape) for stored, shape in wrong if len(stored) == len(shape))
    return {(one, other) for pair in alike for one, other in zip(*pair, strict=True) if one != other}


def _names(values: Json, kind: Any) -> tuple[list[str], list[str], Json]:
    """The sizes that a config names and its class may not take, those that it takes and are absent, and defaults."""
    usual, names = defaults(kind), {**kind.attribute_map}
    unknown = [key for key, value in values.items() if key not in usual and key not in names and _sized(value)]
    rest = [key for key, value in values.items() if key not in unknown and _sized(value)]
    set_by = {names.get(key, key) for key in values}
    absent = [key for key, value in usual.items() if key not in set_by and (value is None or _sized(value))]
    return unknown + rest, absent, usual


def _instead(case: Case, wrong: Shapes) -> list[Any] | None:
    """The key of a size that this version does not read, and the one that it takes in its place."""
    differing = _differing(wrong)
    for path, values, kind in _classes(case):
        usual = defaults(kind)
        for new, value in values.items():
            if type(value) is not int or new in usual or new in kind.attribute_map or not differing:
                continue
            for old, size in values.items():
                if type(size) is int and size != value and all(one * size == other * value for one, other in differing):
                    return [path + new, path + old, None]
    return None


def _sized(value: Any) -> bool:
    listed = isinstance(value, list | tuple) and bool(value) and all(type(one) is int for one in value)
    return type(value) is int or listed
