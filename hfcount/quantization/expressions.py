"""Regular expressions with what an automaton cannot simulate: look-around, flags, named and atomic groups.

Every part of a pattern is asked once at every place of a name where it may end, so that no pattern is tried again and
again as a backtracking engine does. The ends are kept in the order in which Python's `re` tries them, which settles
what an atomic group gives.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hfcount.quantization.automaton import (
    GROUPS,
    LENGTH,
    PatternText,
    Unreadable,
    counted,
    escaped_test,
    is_word,
    range_test,
)

Ends = tuple[int, ...]
"""The places where a part of a pattern may end, the first choice first."""

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_ANCHORS = {"^": "start", "$": "end", r"\A": "start", r"\Z": "end", r"\b": "word", r"\B": "inside"}
_LOOKS = {"=": (False, False), "!": (True, False), "<=": (False, True), "<!": (True, True)}
_FLAGS = "aiLmsux"


class TooLong(Exception):
    """Matching takes more steps than the limit."""


class _Part(Protocol):
    """A part of a pattern."""

    @property
    def width(self) -> int | None:
        """How many characters it takes; None where that varies."""

    def ends(self, match: "_Match", place: int) -> Ends:
        """Where it may end when it begins at a place."""


class _Match:
    """One name, and what each part of the pattern makes of each of its places."""

    def __init__(self, text: str, expression: "Expression") -> None:
        self.text, self._expression = text, expression
        self._known: dict[tuple[int, int], Ends] = {}

    def ends(self, part: _Part, place: int) -> Ends:
        """Where a part may end when it begins at a place, computed once."""
        key = id(part), place
        result = self._known.get(key)
        if result is None:
            result = self._known[key] = part.ends(self, place)
            self.count(len(result) + 1)
        return result

    def count(self, steps: int) -> None:
        """Counts steps; raises TooLong beyond the limit."""
        self._expression.work += steps
        if self._expression.work > self._expression.limit:
            raise TooLong


class Expression:
    """A pattern that must match a whole name.

    Args:
        limit: the steps of all matches together, after which TooLong is raised.

    Raises:
        Unreadable: it is too long, or uses what is not simulated, such as back-references.
    """

    def __init__(self, pattern: str, limit: int) -> None:
        if len(pattern) > LENGTH or pattern.count("(") > GROUPS:
            raise Unreadable(pattern)
        self._root = _Reader(pattern).whole()
        self.work, self.limit = 0, limit

    def matches(self, name: str) -> bool:
        """Whether the pattern matches the whole name; raises TooLong beyond the limit."""
        return len(name) in _Match(name, self).ends(self._root, 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Character:
    """A character that passes a test."""

    test: Callable[[str], bool]
    width: int | None = 1

    def ends(self, match: _Match, place: int) -> Ends:
        return (place + 1,) if place < len(match.text) and self.test(match.text[place]) else ()


@dataclass(frozen=True, slots=True, eq=False)
class _Anchor:
    """A place between characters, by its kind in `_ANCHORS`."""

    kind: str
    width: int | None = 0

    def ends(self, match: _Match, place: int) -> Ends:
        text = match.text
        if self.kind == "start":
            return (place,) if place == 0 else ()
        if self.kind == "end":
            return (place,) if place == len(text) else ()
        edge = is_word(text[place - 1 : place] if place else "") != is_word(text[place : place + 1])
        return (place,) if edge == (self.kind == "word") else ()


@dataclass(frozen=True, slots=True, eq=False)
class _Sequence:
    """Parts one after another."""

    parts: Sequence[_Part]

    @property
    def width(self) -> int | None:
        widths = [part.width for part in self.parts]
        known = [width for width in widths if width is not None]
        return sum(known) if len(known) == len(widths) else None

    def ends(self, match: _Match, place: int) -> Ends:
        places: Ends = (place,)
        for part in self.parts:
            places = _distinct(end for start in places for end in match.ends(part, start))
            match.count(len(places))
        return places


@dataclass(frozen=True, slots=True, eq=False)
class _Alternatives:
    """One of several parts."""

    parts: Sequence[_Part]

    @property
    def width(self) -> int | None:
        widths = {part.width for part in self.parts}
        return widths.pop() if len(widths) == 1 else None

    def ends(self, match: _Match, place: int) -> Ends:
        return _distinct(end for part in self.parts for end in match.ends(part, place))


@dataclass(frozen=True, slots=True, eq=False)
class _Repeated:
    """A part several times; `most` is None where there is no limit, `lazy` where few are tried first."""

    part: _Part
    least: int
    most: int | None
    lazy: bool

    @property
    def width(self) -> int | None:
        width = self.part.width
        return width * self.least if width is not None and self.least == self.most else None

    def ends(self, match: _Match, place: int) -> Ends:
        places: Ends = (place,)
        for _ in range(self.least):
            after = _distinct(end for start in places for end in match.ends(self.part, start))
            match.count(len(after) + 1)
            if after in ((), places):
                places = after
                break
            places = after
        return _distinct(end for start in places for end in self._further(match, start))

    def _further(self, match: _Match, place: int) -> Ends:
        """Where further repeats may end; each takes a character at least."""
        rounds = len(match.text) if self.most is None else min(self.most - self.least, len(match.text))
        reached, border = {place}, {place}
        while border and rounds:
            border = {end for start in border for end in match.ends(self.part, start) if end > start} - reached
            match.count(len(border) + 1)
            reached |= border
        known: dict[int, Ends] = {start: (start,) for start in reached}
        if not border and rounds >= max(reached) - place:  # no limit is reached: from behind, each place once
            for start in sorted(reached, reverse=True):
                known[start] = self._once(match, start, known)
                match.count(len(known[start]))
            return known[place]
        for _ in range(rounds):
            before = known
            known = {start: self._once(match, start, before) for start in reached}
            match.count(sum(map(len, known.values())))
            if known == before:
                break
        return known[place]

    def _once(self, match: _Match, start: int, after: dict[int, Ends]) -> Ends:
        further = [end for first in match.ends(self.part, start) if first > start for end in after[first]]
        return _distinct((start, *further) if self.lazy else (*further, start))


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """What stands before or after a place, or may not stand there."""

    part: _Part
    negated: bool
    behind: bool
    width: int | None = 0

    def ends(self, match: _Match, place: int) -> Ends:
        if self.behind:
            start = place - (self.part.width or 0)
            holds = start >= 0 and place in match.ends(self.part, start)
        else:
            holds = bool(match.ends(self.part, place))
        return (place,) if holds != self.negated else ()


@dataclass(frozen=True, slots=True, eq=False)
class _Atomic:
    """A part of which only the first choice counts."""

    part: _Part

    @property
    def width(self) -> int | None:
        return self.part.width

    def ends(self, match: _Match, place: int) -> Ends:
        return match.ends(self.part, place)[:1]


def _distinct(places: Iterable[int]) -> Ends:
    return tuple(dict.fromkeys(places))


class _Reader(PatternText):
    """Reads a pattern that Python's `re` compiles."""

    def __init__(self, pattern: str) -> None:
        self._text, self._at, self._folded = pattern, 0, False
        self._lazy = self._atomic = False

    def whole(self) -> _Part:
        """The whole pattern, after its flags."""
        if self._text.startswith("(?") and (end := self._flags_end(2)) and self._text[end] == ")":
            self._set_flags(self._text[2:end])
            self._at = end + 1
        result = self._alternatives()
        if self._at < len(self._text) or (self._lazy and self._atomic):  # what is tried first depends on empty repeats
            raise Unreadable(self._text)
        return result

    def _flags_end(self, start: int) -> int:
        """Where flags that begin at a place end; 0 where there are none."""
        end = start
        while self._text[end : end + 1] in (*_FLAGS, "-"):
            end += 1
        return end if end > start and self._text[end : end + 1] in (":", ")") else 0

    def _set_flags(self, flags: str) -> None:
        on, _, off = flags.partition("-")
        if "x" in on:
            raise Unreadable(self._text)
        self._folded = (self._folded or "i" in on) and "i" not in off

    def _alternatives(self) -> _Part:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else _Alternatives(parts)

    def _sequence(self) -> _Part:
        parts: list[_Part] = []
        while (character := self._peek()) and character not in "|)":
            parts.append(self._anchor() or self._repeated())
        return parts[0] if len(parts) == 1 else _Sequence(parts)

    def _anchor(self) -> _Part | None:
        for text, kind in _ANCHORS.items():
            if self._text.startswith(text, self._at):
                self._at += len(text)
                return _Anchor(kind)
        return None

    def _repeated(self) -> _Part:
        part = self._atom()
        sign = self._peek()
        if (known := counted(self._text, self._at)) is not None:
            least, most, self._at = known
        elif sign and sign in "*+?":
            least, most = int(sign == "+"), 1 if sign == "?" else None
            self._at += 1
        else:
            return part
        after = self._peek()
        self._at += after in ("?", "+")
        self._lazy |= after == "?"
        self._atomic |= after == "+"
        result = _Repeated(part, least, most, lazy=after == "?")
        return _Atomic(result) if after == "+" else result

    def _atom(self) -> _Part:
        character = self._next()
        if character == "(":
            return self._group()
        if character == ".":
            return _Character(_any)
        if character == "[":
            return _Character(self._class())
        if character == "\\":
            return self._character(self._escaped())
        return self._character(range_test(character, character))

    def _group(self) -> _Part:
        before, make = self._folded, None
        if self._text.startswith("?", self._at):
            self._at += 1
            make = self._marked()
        if make == "comment":
            self._at = self._text.index(")", self._at) + 1
            return _Sequence(())
        inner = self._alternatives()
        if self._next() != ")":
            raise Unreadable(self._text)
        self._folded = before
        if make == "atomic":
            self._atomic = True
            return _Atomic(inner)
        if make in _LOOKS:
            negated, behind = _LOOKS[make]
            return _Look(inner, negated, behind)
        return inner

    def _marked(self) -> str:
        """What a group is, by what follows its question mark, which is passed over."""
        for mark, kind in ((":", ""), (">", "atomic"), ("#", "comment"), *((look, look) for look in _LOOKS)):
            if self._text.startswith(mark, self._at):
                self._at += len(mark)
                return kind
        if self._text.startswith("P<", self._at):
            self._at = self._text.index(">", self._at) + 1
            return ""
        end = self._flags_end(self._at)
        if not end or self._text[end] != ":":
            raise Unreadable(self._text)  # back-references and conditions
        self._set_flags(self._text[self._at : end])
        self._at = end + 1
        return ""

    def _character(self, test: Callable[[str], bool]) -> _Part:
        return _Character(_folded(test) if self._folded else test)

    def _class(self) -> Callable[[str], bool]:
        negated = self._peek() == "^"
        self._at += negated
        tests: list[Callable[[str], bool]] = []
        while (character := self._next()) != "]" or not tests:
            if character == "\\":
                test = self._escaped()
            elif self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]", "\\"):
                self._at += 1
                test = range_test(character, self._next())
            else:
                test = range_test(character, character)
            tests.append(_folded(test) if self._folded else test)
        return _one_of(tests, negated)

    def _escaped(self) -> Callable[[str], bool]:
        character = self._next()
        if known := _ESCAPES.get(character):
            return range_test(known, known)
        return escaped_test(character, self._text)


def _any(character: str) -> bool:
    return character != "\n"


def _one_of(tests: Sequence[Callable[[str], bool]], negated: bool) -> Callable[[str], bool]:
    def test(character: str) -> bool:
        return any(passes(character) for passes in tests) != negated

    return test


def _folded(test: Callable[[str], bool]) -> Callable[[str], bool]:
    """A test that holds for either case."""

    def either(character: str) -> bool:
        return test(character) or test(character.lower()) or test(character.upper())

    return either
