"""Says which kernels of attention, named in config.json, a version of transformers refuses for a class.

A word is obeyed where it stands for the whole model; in nested configs version 5 overwrites it by that of the whole
(5.24.0, configuration_utils.py:599), version 4 in some types. Whether the package that a kernel needs is installed is
not known here, and is no matter of the checkpoint.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.class_defaults import Declared
from hfcount.text import shown
from hfcount.verifier.loaders.config_values import without_kernel

KEYS = ("attn_implementation", "_attn_implementation")
"""Keys that name a kernel; of several the last counts, and version 4 reads it alone."""

_PAGED, _EAGER = "paged|", "eager"
_KINDS = {"sdpa": "no_sdpa", "flex_attention": "no_flex"}
_FLASH = "no_flash"


def refusals(version: str, values: Mapping[str, Any], kind: str, known: Declared) -> Iterator[tuple[str, str]]:
    """The keys with a kernel that a version refuses for a model, and why.

    Args:
        values: config.json.
        kind: its model_type.
        known: what its class declares.
    """
    older = version.startswith("4.")
    key = next((name for name in KEYS[::-1] if values.get(name) is not None), None)
    if key is None or (older and key != KEYS[-1]):
        return
    given = values[key]
    words = given if isinstance(given, dict) else {"": given}
    for part, word in words.items():
        inner = values.get(part) if part else {}
        if not isinstance(word, str) or (part and part not in known.parts):
            continue
        of = known.part(part, inner if isinstance(inner, dict) else {}).kind if part else kind
        if older and word.startswith(_PAGED):
            yield key, f"{shown(word)} is no attention implementation that it has"
        elif refuses(version, word, of):
            yield key, f"the class of {of} does not support {shown(word)}"
    if not older and values.get("output_attentions") is True and words.get("", _EAGER) != _EAGER:
        yield "output_attentions", f"its {key} {shown(words[''])} does not output them"


def refuses(version: str, word: str, kind: str) -> bool:
    """Whether the class of a type, or that of a model within it, refuses a kernel whatever is installed."""
    bare = word.removeprefix(_PAGED)
    if "/" in bare and version.startswith("4."):
        return False  # it opens the kernel before it looks at the class
    of = _FLASH if "flash" in bare else _KINDS.get(bare)
    return of is not None and kind in without_kernel(version, of)


def nested(version: str, part: Mapping[str, Any], at: str) -> Iterator[str]:
    """Keys of a nested config with a kernel of which it is not known whether version 4 obeys them."""
    if at and version.startswith("4."):
        yield from (f"{at}{name}" for name in KEYS if part.get(name) not in (None, _EAGER))
