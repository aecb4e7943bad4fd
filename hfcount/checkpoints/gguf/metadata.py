"""The sizes that a GGUF file's metadata gives for the tensors of one layer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_OTHER = ("_swa",)
"""Endings of keys for the layers of a second kind."""

_ALWAYS = (
    "attention.kv_lora_rank",
    "attention.key_length_mla",
    "embedding_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
)


def alternatives(metadata: Mapping[str, Any], layer: int | None, tokens: int | None) -> list[dict[str, int]]:
    """The sizes of a layer by their keys without the architecture; the second dict is for layers of a second kind.

    An array is taken at the layer. A size that may be absent has the value that llama.cpp computes.

    Args:
        metadata: the pairs of the file; of longer arrays only the length is needed.
        layer: which layer, or None for tensors of no layer.
        tokens: entries of the vocabulary, None if the file has none.
    """
    prefix = f"{metadata.get('general.architecture')}."
    sizes: dict[str, int] = {}
    for key, value in metadata.items():
        if key.startswith(prefix):
            at = _at(value, layer)
            if at is not None:
                sizes[key[len(prefix) :]] = at
    if tokens is not None:
        sizes["tokens"] = tokens
    _complete(sizes)
    second = dict(sizes)
    for key, value in sizes.items():
        for ending in _OTHER:
            if key.endswith(ending):
                second[key.removesuffix(ending)] = value
    return [sizes] if second == sizes else [sizes, second]


def used(metadata: Mapping[str, Any], texts: Iterable[str]) -> dict[str, Any]:
    """The pairs that such arithmetic is over, and those that stand in for them."""
    prefix = f"{metadata.get('general.architecture')}."
    words = {word for text in texts for word in re.split(r"[*+/]", text)} | set(_ALWAYS)
    keys = {f"{prefix}{word}{ending}" for word in words for ending in ("", *_OTHER)} | {"general.architecture"}
    return {key: metadata[key] for key in keys if key in metadata}


def _at(value: Any, layer: int | None) -> int | None:
    if isinstance(value, Sequence) and not isinstance(value, str):
        if layer is None or layer >= len(value):
            return None
        value = value[layer]
    return value if type(value) is int and value > 0 else None


def _complete(sizes: dict[str, int]) -> None:
    if "attention.kv_lora_rank" in sizes and "attention.key_length_mla" not in sizes:
        # Latent attention had other meanings of these keys before it had keys of its own.
        for key in ("attention.key_length", "attention.value_length", "attention.head_count_kv"):
            sizes.pop(key, None)
        return
    width, heads = sizes.get("embedding_length"), sizes.get("attention.head_count")
    if heads:
        sizes.setdefault("attention.head_count_kv", heads)
        if width:
            sizes.setdefault("attention.key_length", width // heads)
            sizes.setdefault("attention.value_length", width // heads)
