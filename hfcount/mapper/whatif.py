"""What-ifs: a config with some of its keys set to other values."""

import json
import re
from collections.abc import Iterable, Mapping
from copy import copy
from functools import reduce
from itertools import pairwise, product
from math import prod
from typing import Any

from hfcount.errors import BadSetting
from hfcount.mapper import Config
from hfcount.text import printable

Changes = Mapping[str, Any]
"""Values by key; a dotted key leads into a nested object, as in `text_config.hidden_size`, and `[0]` into a list."""

_PLACE = r"\[(\d{1,9})\]"
_PLACES = r"(\[\d{1,9}\])+\Z"

QUANTIZATION = "quantization_config"
"""A key that may be set in any config."""


def parsed(text: str) -> Any:
    """A value from the command line: parsed as JSON if possible, else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


MOST = 100
"""The largest number of what-ifs of one model."""


def variants(settings: Iterable[tuple[str, Any]]) -> list[Changes]:
    """Every combination of the values that each key is set to.

    Raises:
        BadSetting: there are more than 100.
    """
    values: dict[str, dict[str, Any]] = {}
    for key, value in settings:
        values.setdefault(key, {}).setdefault(json.dumps(value), value)  # 1 is not true
    count = prod(map(len, values.values()))
    if count > MOST:
        raise BadSetting(f"these values have {count:,} combinations; at most {MOST} are counted. Set fewer of them.")
    chosen = product(*(choices.values() for choices in values.values()))
    return [dict(zip(values, combination, strict=True)) for combination in chosen] if values else []


def written(changes: Changes) -> str:
    """The changes as on the command line, safe to print."""
    return " ".join(f"{printable(key)}={printable(_written(key, value))}" for key, value in changes.items())


def _written(key: str, value: Any) -> str:
    if key == QUANTIZATION and isinstance(value, dict):
        from hfcount.mapper.quantization_presets import PRESETS

        known = next((name for name, settings in PRESETS.items() if settings == value), None)
        if known:
            return known
    return json.dumps(value, ensure_ascii=False)


def changed(values: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """A copy of the config's values with the changes made.

    Raises:
        BadSetting: a key leads to a place that a list does not have.
    """
    result = dict(values)
    for key, value in changes.items():
        path = steps(key)
        inner: Any = result
        for step, following in pairwise(path):
            current, kind = get(inner, step), dict if isinstance(following, str) else list
            _put(inner, step, copy(current) if isinstance(current, kind) else kind(), key)
            inner = inner[step]
        _put(inner, path[-1], value, key)
    return result


def _put(inner: Any, step: str | int, value: Any, key: str) -> None:
    if isinstance(step, int) and not (isinstance(inner, list) and step < len(inner)):
        raise BadSetting(f"{printable(key)} names place {step:,}, but the list is shorter.")
    inner[step] = value


def steps(key: str) -> list[str | int]:
    """The names and places in lists that a key leads through."""
    path = list[str | int]()
    for part in key.split("."):
        name = re.sub(_PLACES, "", part) if part.endswith("]") else part
        path += [name] if name or not part else []
        path += map(int, re.findall(_PLACE, part[len(name) :]))
    return path


def get(around: Any, step: str | int) -> Any:
    """What an object has under a name, or a list at a place; None if it has nothing there."""
    if isinstance(step, str):
        return around.get(step) if isinstance(around, Mapping) else None
    return around[step] if isinstance(around, list) and step < len(around) else None


def check_known(config: Config, where: str, values: Mapping[str, Any], changes: Changes) -> None:
    """Refuses a key that is neither in the config nor read by its family.

    Raises:
        BadSetting: with the known keys nearest to it.
    """
    if not changes:
        return
    known = {*config.read_keys(), *_paths(values)}
    for key in changes:
        *path, last = every = steps(key)
        around: Any = values
        for step in path:
            around = get(around, step)
        if isinstance(last, int) and get(around, last) is None:
            length = f"{len(around):,} entries" if isinstance(around, list) else "no list there"
            raise BadSetting(f"{where} has {length}, so {printable(key)} cannot be set; places count from 0.")
        first = next((number for number, step in enumerate(every) if isinstance(step, int)), len(every))
        named = ".".join(map(str, every[:first]))
        if named not in known and key.partition(".")[0] != QUANTIZATION:
            from difflib import get_close_matches

            near = get_close_matches(key, sorted(known), n=3)
            nearest = f" Nearest: {', '.join(map(printable, near))}." if near else ""
            raise BadSetting(
                f"{where} has no {printable(key)}, and {printable(config.family)} does not read it.{nearest}"
            )


def lists(values: Mapping[str, Any]) -> list[str]:
    """The keys whose values are lists."""
    return [path for path in _paths(values) if isinstance(reduce(get, steps(path), values), list)]


def _paths(values: Mapping[str, Any], prefix: str = "") -> list[str]:
    paths = []
    for name, value in values.items():
        paths.append(f"{prefix}{name}")
        if isinstance(value, dict):
            paths += _paths(value, f"{prefix}{name}.")
    return paths
