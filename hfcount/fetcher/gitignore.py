"""Evaluates .gitignore files for folders, without running git.

Each pattern is matched segment by segment, so that none takes long, whoever wrote it. What is tracked although a
pattern ignores it counts as ignored, as in other tools that read these files.
"""

import os
import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from pathlib import Path
from typing import NamedTuple

from hfcount.fetcher import files

_LONGEST, _MOST = 100_000, 2_000  # bytes and lines of a file that are read


class _Pattern(NamedTuple):
    """One line of a file: what it ignores below the file's folder, or with `!` does not."""

    segments: tuple[Callable[[str], object] | None, ...]
    """One for each segment of a path; None stands for any number of segments."""
    ignores: bool

    def fits(self, path: Sequence[str]) -> bool:
        """Whether the pattern fits a whole path; of several `**` only the last is ever tried again."""
        at = place = restart = 0
        star = -1
        while place < len(path):
            if at < len(self.segments) and self.segments[at] is None:
                star, restart, at = at, place, at + 1
            elif at < len(self.segments) and (fits := self.segments[at]) is not None and fits(path[place]):
                at, place = at + 1, place + 1
            elif star >= 0:
                restart += 1
                at, place = star + 1, restart
            else:
                return False
        return all(segment is None for segment in self.segments[at:])


Rules = tuple[tuple[str, tuple[_Pattern, ...]], ...]
"""The folders from the repository's own down that have patterns, with these."""


def rules_above(folder: str) -> Rules | None:
    """The rules that hold in a folder; None if it is in no repository, or itself ignored."""
    path = Path(os.path.realpath(folder))
    top = next((parent for parent in (path, *path.parents) if (parent / ".git").exists()), None)
    if top is None:
        return None
    rules = _patterns(top / ".git" / "info" / "exclude", str(top))
    place = top
    for name in path.relative_to(top).parts:
        rules = rules_in(str(place), rules)
        place /= name
        if ignored(str(place), rules):
            return None
    return rules


def rules_in(folder: str, rules: Rules) -> Rules:
    """The rules that hold in a folder, given those that hold where it is."""
    return rules + _patterns(Path(folder, ".gitignore"), folder)


def ignored(folder: str, rules: Rules) -> bool:
    """Whether git ignores a folder: the last pattern that fits decides."""
    for place, patterns in reversed(rules):
        path = os.path.relpath(folder, place).split(os.sep)
        for pattern in reversed(patterns):
            if pattern.fits(path):
                return pattern.ignores
    return False


def _patterns(file: Path, folder: str) -> Rules:
    text = (files.beginning(file, _LONGEST) or b"").decode("utf-8", "replace")
    patterns = tuple(pattern for line in text.splitlines()[:_MOST] if (pattern := _pattern(line)) is not None)
    return ((folder, patterns),) if patterns else ()


def _pattern(line: str) -> _Pattern | None:
    """The pattern of a line; None for a remark or an empty one. Of a folder `x/` and `x` are the same."""
    text = re.sub(r"(?<!\\) +$", "", line)
    negated = text.startswith("!")
    text = text[negated:]
    if not text.strip("/") or line.startswith("#"):
        return None
    segments = text.strip("/").split("/")
    if "/" not in text.rstrip("/"):
        segments.insert(0, "**")
    if segments[-1] == "**":
        segments.append("*")
    return _Pattern(tuple(None if segment == "**" else _segment(segment) for segment in segments), not negated)


def _segment(text: str) -> Callable[[str], object]:
    plain = re.sub(r"\\(.)", lambda escape: f"[{escape[1]}]" if escape[1] in "*?[" else escape[1], text)
    return re.compile(translate(plain)).match
