"""Matches the paths of checkpoints with the patterns of a settings file."""

import re
from functools import cache


@cache
def pattern(text: str) -> "re.Pattern[str]":
    """A pattern of paths: `*` and `?` stand for characters of one folder's name, `**` for any number of folders.

    Raises:
        ValueError: it is absolute, leads out of its folder, or has `**` beside other characters.
    """
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith(("/", "~")) or ".." in parts:
        raise ValueError("it is relative to the file, and stays below it")
    if any("**" in part and part != "**" for part in parts):
        raise ValueError("** stands for whole folders, as in models/**")
    written = "".join("(?:/[^/]+)*" if part == "**" else f"/{_segment(part)}" for part in parts)
    return re.compile(written)


def _segment(text: str) -> str:
    return re.escape(text).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")


def matches(text: str, path: str) -> bool:
    """Whether a relative path, such as `models/a`, matches; the folder of the file is empty, and `../a` never does."""
    if path.partition("/")[0] == "..":
        return False
    return pattern(text).fullmatch(f"/{path}" if path else "") is not None
