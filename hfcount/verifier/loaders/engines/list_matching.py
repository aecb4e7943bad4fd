"""Matches modules with the lists of quantisation settings as each of SGLang's methods does."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hfcount.verifier.loaders.engines.reading import FUSED

_OF_FUSED = {part: fused for fused, parts in FUSED.items() for part in parts}
_LAYERS = {
    "qkv_proj": "QKVParallelLinear",
    "gate_up_proj": "MergedColumnParallelLinear",
    "o_proj": "RowParallelLinear",
    "down_proj": "RowParallelLinear",
}
"""The classes of linear layers, which targets may name; of others it is ColumnParallelLinear."""


def module(block: str, part: str, stacks: Collection[str]) -> str:
    """The module that is built for a projection, of which that may be a part."""
    fused = _OF_FUSED.get(part, part)
    return f"{block}.{fused if fused in stacks else part}"


def dynamic_rule(name: str, rules: Mapping[str, Any]) -> Any:
    """What `dynamic` of GPTQ has for a module: False to leave it dense, its settings, or None if no pattern fits.

    SGLang 0.5.23: srt/layers/quantization/utils.py, get_dynamic_override.
    """
    for pattern, rule in rules.items():
        if _matches(pattern.removeprefix("-:" if pattern.startswith("-:") else "+:"), name):
            return False if pattern.startswith("-:") else rule
    return None


def by_suffix(name: str, entries: Iterable[str]) -> bool:
    """Whether compressed-tensors' list has a module: by its name, the end of its path, or `re:` and an expression.

    SGLang 0.5.23: srt/layers/quantization/compressed_tensors/utils.py, check_equal_or_regex_match.
    """
    return any(
        _matches(entry[3:], name) if entry.startswith("re:") else f".{name}".endswith(f".{entry}") for entry in entries
    )


def is_ignored(name: str, ignored: Collection[str], fuses: Collection[str]) -> bool:
    """Whether compressed-tensors leaves a module dense; one that the class says to be fused goes by its parts."""
    stem, _, last = name.rpartition(".")
    if last in fuses and last in FUSED and name not in ignored:
        return all(by_suffix(f"{stem}.{part}", ignored) for part in FUSED[last])
    return by_suffix(name, ignored)


def has_target(name: str, targets: Collection[str], fuses: Collection[str]) -> bool:
    """Whether a target of compressed-tensors is for a module: by name, by its class, or for all of its parts.

    SGLang 0.5.23: srt/layers/quantization/compressed_tensors/utils.py, find_matched_target.
    """
    stem, _, last = name.rpartition(".")
    layer = _LAYERS.get(last, "ColumnParallelLinear")
    if _is_target(name, targets) or any(
        _matches(target[3:], layer) if target.startswith("re:") else target.lower() in layer.lower()
        for target in targets
    ):
        return True
    return last in fuses and last in FUSED and all(_is_target(f"{stem}.{part}", targets) for part in FUSED[last])


def _is_target(name: str, targets: Iterable[str]) -> bool:
    return any(_matches(target[3:], name) if target.startswith("re:") else target == name for target in targets)


def by_path(name: str, entries: Iterable[str]) -> bool:
    """Whether a list has a module by components of its path that follow one another.

    SGLang 0.5.23: srt/layers/quantization/utils.py, _module_path_match.
    """
    return any(f".{entry.rstrip('.')}." in f".{name}." for entry in entries)


def is_excluded(name: str, patterns: Iterable[str]) -> bool:
    """Whether ModelOpt's list has a module, of several parts if it is put together of such: by path, or by patterns.

    A pattern with `*` is for the whole name, or for one component of it. SGLang 0.5.23:
    srt/layers/quantization/modelopt_quant.py, is_layer_excluded.
    """
    patterns = tuple(patterns)
    stem, _, last = name.rpartition(".")
    if all(by_path(f"{stem}.{part}" if stem else part, patterns) for part in FUSED.get(last, (last,))):
        return True
    expressions = [re.escape(pattern).replace(r"\*", ".*") for pattern in patterns]
    return any(re.fullmatch(each, part) for each in expressions for part in (name, *name.split(".")))


def _matches(expression: str, name: str) -> bool:
    """Whether an expression fits the beginning of a name; one that is none fits nothing."""
    try:
        return re.match(expression, name) is not None
    except re.error:
        return False
