"""Says which settings of a quantisation each version of transformers sees, and what it makes of the others."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.formats.safetensors import Entry
from hfcount.mapper import json_lines
from hfcount.text import shown
from hfcount.verifier.loaders.loader import Checkpoint, ReadingOutcome

_FLOATS = ("F64", "F32", "F16", "BF16")
"""The dtypes of weights that are not packed."""


class Unread(NamedTuple):
    """Settings that a version does not obey: what comes of it, a sentence part about it, and the line that says so."""

    outcome: ReadingOutcome
    says: str
    line: str


class _Quantizers(NamedTuple):
    methods: frozenset[str]
    unknown: str
    unnamed: str


def unread(version: str, checkpoint: Checkpoint) -> Iterator[Unread]:
    """The settings of a packed checkpoint that a version passes over or refuses."""
    known = _quantizers(version)
    if known is None:
        return
    values = checkpoint.values
    settings = values.get("quantization_config")
    text = values.get("text_config")
    if not settings and not version.startswith("4.") and isinstance(text, Mapping):
        settings = text.get("quantization_config")
    if isinstance(settings, Mapping) and settings:
        yield from _of_settings(known, settings, checkpoint)
    elif checkpoint.announced and checkpoint.announced[0].method:
        first = checkpoint.announced[0]
        where = first.key if first.file == "config.json" else first.file
        says = f"does not read {where}, and loads the packed weights as if they were not: they are random"
        yield Unread("differs", says, known.unknown)


def has_method(version: str, method: str) -> bool:
    """Whether a version knows a quantisation method by this name."""
    known = _quantizers(version)
    return known is not None and (method in known.methods or method == "bitsandbytes")


def _has_plain_names(checkpoint: Checkpoint) -> bool:
    """Whether it holds tensors under the very names that its config describes without a quantisation, and no others."""
    stored = {*checkpoint.names()}
    leaves = checkpoint.blueprint.leaves if checkpoint.blueprint else ()
    required = [leaf for leaf in leaves if leaf.presence == "required" and not leaf.tied_to]
    return len(stored) == sum(int(leaf.count) for leaf in required) and all(
        name in stored for leaf in required for name in leaf.names()
    )


def _is_plain(checkpoint: Checkpoint) -> bool:
    """Whether it holds the very tensors that its config describes without a quantisation, in their shapes and dtype."""
    if checkpoint.shards is None or checkpoint.blueprint is None or not _has_plain_names(checkpoint):
        return False
    stored: dict[str, Entry] = {}
    for shard in checkpoint.shards.values():
        stored |= shard.header.tensors if shard.header else {}
    required = [leaf for leaf in checkpoint.blueprint.leaves if leaf.presence == "required" and not leaf.tied_to]
    return all(
        stored[name].shape == tuple(map(int, leaf.shape)) and (leaf.whole or stored[name].dtype in _FLOATS)
        for leaf in required
        for name in leaf.names()
    )


def _of_settings(known: _Quantizers, settings: Mapping[str, Any], checkpoint: Checkpoint) -> Iterator[Unread]:
    method = settings.get("quant_method")
    if settings.get("load_in_8bit") or settings.get("load_in_4bit"):
        return
    if method is None:
        yield Unread("refuses", "refuses a quantization_config without quant_method", known.unnamed)
    elif isinstance(method, list | dict):  # which it looks up in a dict (TypeError: unhashable type)
        yield Unread("refuses", f"refuses a quantization_config whose quant_method is {shown(method)}", known.unknown)
    elif method not in known.methods and method != "bitsandbytes" and _is_plain(checkpoint):
        says = f"has no quantisation method {method}, passes over it, and loads the weights, which are not packed"
        yield Unread("whole", says, known.unknown)
    elif method not in known.methods and method != "bitsandbytes" and _has_plain_names(checkpoint):
        says = f"has no quantisation method {method}, and whether the weights are packed is not known here"
        yield Unread("unknown", says, known.unknown)
    elif method not in known.methods and method != "bitsandbytes":
        says = f"has no quantisation method {method}, and loads the packed weights as if they were not: they are random"
        yield Unread("differs", says, known.unknown)


@cache
def _quantizers(version: str) -> _Quantizers | None:
    row = json_lines.of_kind((Path(__file__).parent / "quantizers.json").read_bytes(), version)
    return _Quantizers(frozenset(row["methods"].split()), row["unknown"], row["unnamed"]) if row else None
