"""Finds the forms of the settings of rotary positions that a config class of transformers refuses.

A form is PLACE/KIND: rope_parameters, as version 5 writes them; nested, the same for each kind of layers, by the names
that the class itself gives them; rope_scaling, as version 4 writes them, beside rope_theta; nested_scaling, the same
for each kind of layers; both, rope_scaling and rope_parameters; type, rope_scaling whose kind is called so; and
headless, rope_scaling where head_dim is null.
"""

import sys
from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from inspect import signature
from typing import Any

Json = dict[str, Any]

KINDS: dict[str, Json] = {
    "default": {},
    "linear": {"factor": 2.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 32},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    },
    "longrope": {"factor": 4.0, "original_max_position_embeddings": 32, "short_factor": [], "long_factor": []},
}
"""The kinds of rotary positions, each with the keys that its library wants."""

KINDLESS: dict[str, Any] = {
    "zero": 0,
    "number": 1,
    "no-text": "",
    "text": "linear",
    "no-list": [],
    "list": [1],
    "empty": {},
    "bare": {"factor": 2.0},
    "rope_type": {"rope_type": None},
    "type": {"type": None},
}
"""Settings that name no kind."""

_BASE = 10_000.0
_LAYERS = ["full_attention", "sliding_attention"]
_NAMES = ("rope_theta", "rope_scaling", "rope_parameters")


def refused(config: Any) -> dict[str, str]:
    """The kinds that a config class, or the rotary embedding of its models, refuses, by form; none if it has none."""
    try:
        usual = config()
        forms = [*_forms(usual)] if any(hasattr(usual, name) for name in _NAMES) else []
    except Exception:  # a class that needs more than that
        return {}
    tables = [table for table in _tables(config) if not _error(config, [table], {})]
    kinds: dict[str, str] = {}
    for form, values in forms:
        if _error(config, tables, values):
            place, _, kind = form.partition("/")
            kinds[place] = f"{kinds.get(place, '')} {kind}".strip()
    return kinds


def kindless(config: Any) -> dict[str, str] | None:
    """The settings without a kind that a config class, or the rotary embedding of its models, refuses, by place.

    A place is rope_scaling alone, rope_scaling beside rope_parameters (`both`), or rope_parameters. None stands for a
    class without rotary positions, or one that needs more than that.
    """
    try:
        usual = config()
    except Exception:
        return None
    if not any(hasattr(usual, name) for name in _NAMES):
        return None
    tables = [table for table in _tables(config) if not _error(config, [table], {})]
    beside = getattr(usual, "rope_parameters", None)
    places = {"rope_scaling": ("rope_scaling", {}), "rope_parameters": ("rope_parameters", {})}
    if beside:
        places["both"] = ("rope_scaling", {"rope_parameters": beside})
    found = {
        place: " ".join(form for form, value in KINDLESS.items() if _error(config, tables, {key: value, **also}))
        for place, (key, also) in places.items()
    }
    return {place: forms for place, forms in found.items() if forms}


def _forms(usual: Any) -> Iterator[tuple[str, Json]]:
    """Each form, and the keys of a config in it."""
    width = getattr(usual, "head_dim", None) or _width(usual)
    known = "head_dim" in vars(usual) or "head_dim" in getattr(type(usual), "__dataclass_fields__", {})
    head = {"head_dim": width} if known else {}
    turned = int(width * _share(usual)) // 2
    settings = getattr(usual, "rope_parameters", None) or {}
    nested = any(isinstance(value, dict) for value in settings.values())
    # Layers without rotary positions have null in their place.
    layers = {name: value for name, value in settings.items() if value is None or isinstance(value, dict)}
    layers = layers if nested else {name: {} for name in _LAYERS}
    further = {name: value for name, value in settings.items() if isinstance(value, list | int | bool)}
    for kind, keys in KINDS.items():
        filled = {key: [1.0] * turned if value == [] else value for key, value in keys.items()}
        new = {**further, "rope_type": kind, "rope_theta": _BASE, **filled}
        old = {**further, "rope_type": kind, **filled}
        by_layer = {name: None if value is None else new for name, value in layers.items()}
        yield f"rope_parameters/{kind}", {"rope_parameters": new, **head}
        yield f"nested/{kind}", {"rope_parameters": by_layer, **head}
        yield f"rope_scaling/{kind}", {"rope_theta": _BASE, "rope_scaling": old, **head}
        yield f"nested_scaling/{kind}", {"rope_theta": _BASE, "rope_scaling": by_layer, **head}
        yield f"type/{kind}", {"rope_theta": _BASE, "rope_scaling": {"type": kind, **filled}, **head}
        yield f"both/{kind}", {"rope_theta": _BASE, "rope_scaling": old, "rope_parameters": new, **head}
        if known:
            yield f"headless/{kind}", {"rope_theta": _BASE, "rope_scaling": old, "head_dim": None}


def _width(usual: Any) -> int:
    size, heads = (getattr(usual, name, None) for name in ("hidden_size", "num_attention_heads"))
    return size // heads if isinstance(size, int) and isinstance(heads, int) and heads else 64


def _share(usual: Any) -> float:
    """The share of a head's features that is turned."""
    settings = getattr(usual, "rope_parameters", None)
    places = [vars(usual), *([settings] if isinstance(settings, dict) else [])]
    shares = [place.get(name) for place in places for name in ("rotary_pct", "partial_rotary_factor")]
    return next((float(share) for share in shares if isinstance(share, int | float)), 1.0)


def _error(config: Any, tables: list[Any], values: Json) -> str:
    """The error of a config with these values, or of a rotary embedding that is made of it."""
    try:
        made = config(**deepcopy(values))
        for table in tables:
            table(made)
    except Exception as error:
        return type(error).__name__
    return ""


def _tables(config: Any) -> list[Any]:
    """The classes of rotary embeddings that are made of a config of this class."""
    name = config.__module__.replace(".configuration_", ".modeling_")
    try:
        module = sys.modules.get(name) or import_module(name)
    except Exception:  # it needs a library that is not installed
        return []
    found = []
    for value in vars(module).values():
        if isinstance(value, type) and value.__name__.endswith("RotaryEmbedding") and value.__module__ == name:
            taken = signature(value.__init__).parameters.get("config")
            if taken is not None:
                found.append(value)
    return found
