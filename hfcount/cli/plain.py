"""Reads plain command lines of `hfcount verify`, which are most, without click; click reads all others.

What is read here gives the same arguments as click's reading. Help, completion, mistakes and rare options are click's.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from hfcount.cli.verify import Arguments
from hfcount.options import AskedDepth
from hfcount.report.renderers import FORMATS

_STYLES = {"--json": "json", "-q": "brief", "--quiet": "brief", "--details": "detailed"}
"""Options that choose what is printed."""

_FLAGS = {"--offline": "offline", "--no-cache": "no_cache", "--formula": "formula", "--tensors": "tensors"}
"""Options without a value, and the arguments that they set."""

_BY_CLICK = ("_HFCOUNT_COMPLETE", "HFCOUNT_NO_CONFIG")
"""Variables of the environment that click reads."""


def arguments(words: Sequence[str]) -> Arguments | None:
    """The arguments that a command line means; None if click has to read it."""
    if any(name in os.environ for name in _BY_CLICK):
        return None
    values: dict[str, Any] = {}
    models: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _STYLES:
            values["style"] = _STYLES[word]
        elif word in _FLAGS:
            values[_FLAGS[word]] = True
        elif word in _VALUES:
            name, read = _VALUES[word]
            value = read(next(rest, ""))
            if value is None or (name in values and name != "style"):
                return None
            values[name] = value
        elif _is_model(word):
            models.append(word)
        else:
            return None
    if "depth" in values:
        values["given"] = frozenset({"depth"})
    return Arguments(models=tuple(models), **values) if models else None


def _is_model(word: str) -> bool:
    """Whether a word is a MODEL beyond doubt, and no option, no mistyped command and no list of models."""
    return word[:1] not in ("-", "") and ("/" in word or os.path.lexists(word))


def _text(value: str) -> str | None:
    return value if value[:1] not in ("-", "") else None


def _depth(value: str) -> str | None:
    """A depth; not `data`, which needs a library."""
    return value if value in get_args(AskedDepth) and value != "data" else None


def _style(value: str) -> str | None:
    """A format; not `html`, which needs a library."""
    return value if value in FORMATS and value != "html" else None


def _folder(value: str) -> Path | None:
    """A folder that can be read, if it is there."""
    return Path(value) if _text(value) and (os.access(value, os.R_OK) or not os.path.lexists(value)) else None


_VALUES: Mapping[str, tuple[str, Callable[[str], object | None]]] = {
    "--format": ("style", _style),
    "--depth": ("depth", _depth),
    "--revision": ("revision", _text),
    "--subfolder": ("subfolder", _text),
    "--base": ("base", _text),
    "--target": ("target", _text),
    "--fixtures": ("fixtures", _folder),
}
"""Options with a value: the argument that each sets, and what reads the value; None leaves the line to click."""
