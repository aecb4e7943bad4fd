"""Makes a deep checkpoint shallow: layers that repeat those before them are left out, as they are converted alike.

Layers are alike that have tensors of the same names and shapes, and the same entries in lists of the config with one
for each layer. What keys say of layers by number, or of every so many layers, stays as it is.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from math import lcm
from typing import Any

Stored = Mapping[str, tuple[Sequence[int], str]]

_COUNTS = ("n_layers", "num_hidden_layers", "n_layer", "num_layers")
_LAYER = re.compile(r"^(.*?(?:^|\.)(?:layers|layer|blocks|block|h))\.(\d+)\.(.*)$")
_TOWER = re.compile(r"vision|visual|audio")
_LEAST, _MOST, _LONGEST = 10, 512, 8
"""Fewer layers are converted as they are; llama.cpp refuses more; periods of more are not looked for."""

_EVERY = ("interval", "pattern", "freq", "step", "period", "every")


def shallow(values: Mapping[str, Any], stored: Stored) -> tuple[Mapping[str, Any], Stored]:
    """The config and tensors without the layers that repeat others; the same where it has few, or they differ.

    Args:
        values: config.json.
        stored: shape and dtype of each tensor.
    """
    text = values.get("text_config")
    text = text if isinstance(text, Mapping) else values
    key = next((name for name in _COUNTS if isinstance(text.get(name), int)), "")
    count = text.get(key)
    if not isinstance(count, int) or not _LEAST < count <= _MOST:
        return values, stored
    layers = [(name, _LAYER.match(name)) for name in stored]
    signs = _signs(text, layers, stored, count)
    kept = _kept(signs, text, key, count)
    if kept is None:
        return values, stored
    tensors: dict[str, tuple[Sequence[int], str]] = {}
    for name, at in layers:
        if at is None:
            tensors[name] = stored[name]
        elif _TOWER.search(at[1]):
            if at[2] == "0":
                tensors[name] = stored[name]
        elif (number := int(at[2])) < kept:
            tensors[name] = stored[name]
        elif number >= count:
            tensors[f"{at[1]}.{number - count + kept}.{at[3]}"] = stored[name]
    return _shortened(values, key, count, kept), tensors


def _signs(
    text: Mapping[str, Any], layers: Sequence[tuple[str, re.Match[str] | None]], stored: Stored, count: int
) -> list[Any]:
    """What each layer is recognised by."""
    tensors: list[set[Any]] = [set() for _ in range(count)]
    for name, at in layers:
        if at is not None and not _TOWER.search(at[1]) and (number := int(at[2])) < count:
            shape, dtype = stored[name]
            tensors[number].add((at[1], at[3], tuple(shape), dtype))
    lists = [value for value in text.values() if isinstance(value, list) and len(value) >= count]
    return [(tensors[at], [value[at] for value in lists]) for at in range(count)]


def _kept(signs: Sequence[Any], text: Mapping[str, Any], key: str, count: int) -> int | None:
    """How many layers, from the first, are kept; None if all."""
    numbers = {name: value for name, value in text.items() if type(value) is int and name != key and 1 < value < count}
    every = [value for name, value in numbers.items() if any(word in name for word in _EVERY)]
    least = max([value + 1 for name, value in numbers.items() if "layer" in name or "first" in name], default=1)
    step = lcm(*every)
    for period in range(step, _LONGEST * step + 1, step):
        at = count
        while at > period and signs[at - 1] == signs[at - 1 - period]:
            at -= 1
        kept = max(at, least + period - 1)
        if kept <= count // 2:
            return kept
    return None


def _shortened(values: Mapping[str, Any], key: str, count: int, kept: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in values.items():
        if name == key:
            result[name] = kept
        elif isinstance(value, list) and len(value) >= count:
            result[name] = [*value[:kept], *value[count:]] if len(value) <= count + _LEAST else value
        else:
            result[name] = (
                _shortened(value, key, count, kept)
                if name == "text_config" and isinstance(value, dict)
                else copy.copy(value)
            )
    return result
