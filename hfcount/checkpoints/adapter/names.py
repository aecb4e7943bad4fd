"""Parses the stored names of adapter tensors: PEFT's prefix and leftover adapter names."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

PREFIX = "base_model.model."
_OUTER = "base_model."  # of what is no module's, too
_LEFT = re.compile(
    r"(\.(?:lora_[A-Z]|lora_embedding_[AB]|lora_magnitude_vector|ia3_l|hada_\w+|lokr_\w+|vera_lambda_[bd]|oft_R|hra_u"
    r"|vblora_logits_[AB]|ln_tuning_layers|trainable_tokens_delta))\.default(?=\.|$)"
)

Wrapped = Literal["", "twice", "bare"]
"""How names are prefixed: as PEFT does it, more than once, or not at all."""


@dataclass(frozen=True, slots=True)
class StoredNames:
    """The stored names, normalised.

    Args:
        names: each as it is stored, by its path in the base and what follows that.
        without_module: those without a module, such as those of prompts; each as it is stored.
        wrapped: how they are prefixed.
        left: whether an adapter's name was left in them.
    """

    names: Mapping[str, str]
    without_module: Mapping[str, str]
    wrapped: Wrapped
    left: int


def read_names(names: Iterable[str]) -> StoredNames:
    """The names of an adapter of modules."""
    listed = list(names)
    prefixed = [name for name in listed if name.startswith(PREFIX)]
    twice = bool(prefixed) and all(name.startswith(_OUTER, len(PREFIX)) for name in prefixed)
    bare = not prefixed and not all(name.startswith(_OUTER) for name in listed)
    by_path: dict[str, str] = {}
    without_module: dict[str, str] = {}
    left = 0
    for name in listed:
        inner = _unwrapped(name) if twice else name
        if not inner.startswith(PREFIX) and (not bare or inner.startswith(_OUTER)):
            without_module[inner] = name
            continue
        inner = inner.removeprefix(PREFIX)
        short = _LEFT.sub(r"\1", inner)
        left += short != inner
        by_path[short] = name
    return StoredNames(by_path, without_module, "twice" if twice else "bare" if bare and by_path else "", left)


def _unwrapped(name: str) -> str:
    """A name with the prefix once."""
    while name.startswith(f"{PREFIX}{_OUTER}"):
        name = name.removeprefix(PREFIX)
    return name
