"""The classes of transformers by model_type, and their base_model_prefix (tests/tools/classes.py)."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

HEAD = re.compile("(?<=.)(For[A-Z].*|(With)?LMHead(Model)?|(Encoder)?Model(LM)?|Encoder)$")
"""The end of a class's name, which says what is around the model; what is before it is the model's own name."""


class KnownClass(NamedTuple):
    """A class that transformers has: its name there, and the model_types of the configs that it takes."""

    name: str
    types: tuple[str, ...]


@lru_cache(64)
def known(name: str) -> KnownClass | None:
    """The class of this name in transformers; case and underscores may differ.

    Code that was published before it came into transformers often spells its names otherwise.
    """
    if not re.fullmatch(r"\w+", name):
        return None
    lines = re.findall(rf'^"([^"]+)": "[^"]*(?<![^" ]){re.escape(name)}(?![^" ])', _text(), re.MULTILINE)
    if lines:
        return KnownClass(name, tuple(lines))
    other = _spelled().get(plain(name), "")
    return known(other) if other not in ("", name) else None


def is_published(name: str) -> bool:
    """Whether an engine registers a class in this spelling, which is not that of transformers."""
    return f'"{name}"' in (Path(__file__).parent / "class_spellings.json").read_text()


@lru_cache(2048)
def classes(model_type: str) -> tuple[str, ...]:
    """The classes that take configs of a type; empty for a type that transformers does not have."""
    return tuple((_value(_text(), model_type) or "").split())


@lru_cache(64)
def prefix(name: str, model_type: str) -> str | None:
    """The `base_model_prefix` of a class; None if transformers has no class of the type.

    Args:
        name: the class; "" stands for any of the type.
    """
    values = (_value(_prefixes(), key) for key in (name, model_type) if key)
    return next((value for value in values if value is not None), None)


def _value(text: str, key: str) -> str | None:
    """The value of a key in JSON with a line for each; None if there is none."""
    before = f'\n"{key}": "'
    start = text.find(before)
    return None if start < 0 else text[start + len(before) : text.index('"', start + len(before))]


def plain(name: str) -> str:
    """A name in lower case and without what parts its words."""
    return re.sub("[-_.]", "", name).lower()


def stem(name: str) -> str:
    """The plain name of the model that a class is of, such as `minicpm3` of MiniCPM3ForCausalLM."""
    return plain(HEAD.sub("", name))


@cache
def _spelled() -> dict[str, str]:
    every = re.findall(r'^"[^"]+": "([^"]*)"', _text(), re.MULTILINE)
    return {plain(name): name for names in every for name in names.split()}


@cache
def _prefixes() -> str:
    return (Path(__file__).parent / "prefixes.json").read_text()


@cache
def _text() -> str:
    return (Path(__file__).parent / "classes.json").read_text()
