"""The context length that a config allows, as vLLM derives it.

vLLM 0.33: transformers_utils/model_arch_config_convertor.py (derive_max_model_len_and_key), config/model.py
(_get_and_verify_max_len). What scaled rotary positions mean: transformers 5.23, modeling_rope_utils.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hfcount.mapper.class_defaults import declared

_KEYS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
)
_MOST = 2**40  # tokens: more is no limit
_ORIGINAL = "original_max_position_embeddings"
_SCALED = ("su", "longrope", "llama3", "default")
"""Kinds of rotary positions whose limit in the config is already the scaled one."""

Values = Mapping[str, Any]


class Length(NamedTuple):
    """The tokens that a config allows, and how that follows from its keys."""

    tokens: int
    source: str


def longest(values: Values, path: str) -> Length | None:
    """The most tokens of a sequence by a config; None if it gives no limit.

    Args:
        values: config.json.
        path: the keys that lead to the language model in it, such as `text_config.`; empty if it is at the top.
    """
    kind = values.get("model_type")
    for name in path.split(".")[:-1]:
        inner = values.get(name)
        part = declared(kind if isinstance(kind, str) else "").part(name, inner if isinstance(inner, dict) else None)
        values, kind = {**part.absent, **(inner if isinstance(inner, dict) else {})}, part.kind
    limits = dict(_limits(values, kind if isinstance(kind, str) else ""))
    if not limits:
        return None
    key = min(limits, key=lambda name: limits[name])
    if "model_max_length" in limits:  # which counts before the others
        key = "model_max_length"
    length = Length(limits[key], f"{path}{key}{'' if key in values else ', by default'}")
    return length if "gemma3" in str(kind) else _scaled(length, values, path)  # Gemma 3's limit is the scaled one


def _limits(values: Values, kind: str) -> Iterator[tuple[str, int]]:
    """The keys that limit a context, and their numbers."""
    known = declared(kind)
    for key in _KEYS:
        canonical = known.names.get(key, key)
        number = values.get(key, values.get(canonical, known.keys.get(canonical)))
        if type(number) is int and 0 < number <= _MOST:
            yield (key if key in values else canonical), number


def _scaled(limit: Length, values: Values, path: str) -> Length:
    """The limit with rotary positions as they are stretched; of kinds of layers they are stretched alike."""
    name = "rope_scaling" if values.get("rope_scaling") else "rope_parameters"
    given = values.get(name)
    settings = given if isinstance(given, dict) else {}
    each = [setting for setting in settings.values() if isinstance(setting, dict)] or [settings]
    for setting in each:
        kind, factor = setting.get("rope_type", setting.get("type", "default")), setting.get("factor")
        if kind in _SCALED or not isinstance(factor, int | float) or not 1 < factor < 1e6:
            continue
        base, source = limit
        if kind == "yarn":
            original = setting.get(_ORIGINAL, values.get(_ORIGINAL))
            if type(original) is int and 0 < original <= _MOST:
                base, source = original, f"{path}{name}.{_ORIGINAL}"
        return Length(int(base * factor), f"{source} {base:,} × factor {factor:g} of {kind}")
    return limit
