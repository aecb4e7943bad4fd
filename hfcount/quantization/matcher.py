"""Matches lists of modules in quantisation settings by the rules of each tool, without backtracking."""

import re
from collections.abc import Collection, Iterable
from typing import Literal

from hfcount.quantization.automaton import Automaton, Unreadable, of_glob

Style = Literal["transformers", "compressed-tensors", "shell", "substring", "regex", "path"]
"""How a tool matches a name: transformers takes a regular expression for its beginning up to a dot, or plainly its end;
compressed-tensors a whole name, or `re:` and a regular expression for its beginning; ModelOpt shell patterns or a
parent's name; AutoAWQ a part of it; GPTQModel a regular expression for its beginning; MLX and AutoRound the name."""

Hit = Literal["", "own", "inner"]
"""No match; a match of the name; or one of the name without its model's prefix, as writers of lists have it."""

_PREFIX = re.compile(r"(?:(?:model|language_model|backbone|transformer)\.)+")
_SPECIAL = re.compile(r"[*+?()\[\]|^$\\{}]")
_NUMBER = re.compile(r"\b(?:([A-Za-z_]\w*)\W{1,3})?(\d{1,18})\b")
_SPLIT_NUMBER = re.compile(r"\d[*?+\[{\\]|[\])*?+]\d|\[\^?\d|\\d\d")
_COUNTED = 1_000
"""Numbers below this are told apart one by one where a pattern may match some of their digits."""


class Matcher:
    """Patterns that match names of modules; those in `unread` are not understood, and match nothing.

    Args:
        ends: whether names that end in a pattern match, if the style says so.
    """

    def __init__(self, patterns: Iterable[str], style: Style, ends: bool = True) -> None:
        self.unread: list[str] = []
        self._exact: set[str] = set()
        self._closed: dict[int, set[str]] = {}  # beginnings that end at a dot or with the name, by length
        self._open: dict[int, set[str]] = {}  # beginnings, by length
        self._ends: dict[int, set[str]] = {}
        self._parts: list[str] = []
        self._automata: list[Automaton] = []
        self._numbers: dict[str, set[int]] = {}
        self._loose = False
        self._style: Style = style
        self._by_end = ends
        self._patterns = [pattern for pattern in patterns if pattern]
        self._count("\n\n\n\n".join(self._patterns).replace("\\.", "."))  # further apart than a word from its number
        for pattern in self._patterns:
            self._add(pattern)
        self._inner: Matcher | None = None

    def find(self, name: str) -> Hit:
        """Whether a pattern matches the name, or would without the prefixes that both have."""
        if self.matches(name):
            return "own"
        if not self._patterns:
            return ""
        if self._inner is None:
            bare = dict.fromkeys(_PREFIX.sub("", pattern, count=1) for pattern in self._patterns)
            self._inner = Matcher(bare, self._style, ends=False)
        prefix = _PREFIX.match(name)
        return "inner" if self._inner.matches(name[prefix.end() :] if prefix else name) else ""

    def matches(self, name: str) -> bool:
        """Whether a pattern matches exactly this name."""
        if name in self._exact:
            return True
        for length, beginnings in self._closed.items():
            if name[:length] in beginnings and name[length : length + 1] in ("", "."):
                return True
        return (
            any(name[:length] in some for length, some in self._open.items())
            or any(name[-length:] in some for length, some in self._ends.items())
            or any(part in name for part in self._parts)
            or any(automaton.matches(name) for automaton in self._automata)
        )

    def numbers(self, after: str) -> Collection[int]:
        """The numbers after the segment `after` of a name, such as `layers`, that may make a difference."""
        if self._loose:
            return range(_COUNTED)
        return self._numbers.get(after, set()) | self._numbers.get("", set())

    def _count(self, text: str) -> None:
        """Looks for the numbers in all patterns at once, of which there may be one for each module."""
        self._loose = self._style != "shell" and bool(_SPLIT_NUMBER.search(text))
        for word, digits in set(_NUMBER.findall(text)):
            self._numbers.setdefault(word, set()).add(int(digits))

    def _add(self, pattern: str) -> None:
        if self._style == "substring":
            self._parts.append(pattern)
        elif self._style == "regex":
            self._compile(pattern)
        elif self._style == "compressed-tensors" and pattern.startswith("re:"):
            self._compile(pattern[3:])
        elif self._style == "transformers":
            self._add_beginning_or_end(pattern)
        elif self._style == "shell":
            self._add_glob(pattern)
        else:
            self._exact.add(pattern)

    def _add_beginning_or_end(self, pattern: str) -> None:
        if self._by_end:
            self._ends.setdefault(len(pattern), set()).add(pattern)
        if _SPECIAL.search(pattern):
            self._compile(rf"(?:{pattern})(?:\.|$)")
        else:
            self._closed.setdefault(len(pattern), set()).add(pattern)

    def _add_glob(self, pattern: str) -> None:
        if not _SPECIAL.search(pattern):
            self._closed.setdefault(len(pattern), set()).add(pattern)
        elif pattern.endswith("*") and not _SPECIAL.search(pattern[:-1]):
            # After a number, `*` is meant for what is below it: layer 6 is not layer 61.
            starts = self._closed if pattern[-2:-1].isdigit() else self._open
            starts.setdefault(len(pattern) - 1, set()).add(pattern[:-1])
        else:
            self._compile(pattern, glob=True)

    def _compile(self, pattern: str, glob: bool = False) -> None:
        try:
            self._automata.append(of_glob(pattern) if glob else Automaton(pattern))
        except Unreadable:
            self.unread.append(pattern)
