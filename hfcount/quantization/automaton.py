"""Regular expressions from a config, matched in linear time: a backtracking engine could be kept busy for ever.

The grammar is what such lists hold: literals, `.`, classes, `\\d \\w \\s`, groups, `|`, `* + ? {}` and anchors. A
pattern becomes a nondeterministic automaton (Thompson's construction), whose sets of states are computed as names need
them.
"""

import re
from collections.abc import Callable

LENGTH = 2_000  # characters of a pattern
GROUPS = 100
_STATES = 4_000  # remembered sets of states
_KEPT = 500_000  # states in them
_SIZE = 20_000  # states, which repeats multiply
_ANCHORS = {"^": "^", "$": "$", r"\b": "b", r"\B": "B"}
_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")
_DIGITS = 4  # of a count
_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_CLASSES = {"d": "0123456789", "w": _WORD, "s": " \t\n"}


class Unreadable(ValueError):
    """A pattern beyond the grammar."""


class PatternText:
    """The text of a pattern, and how far it is read."""

    _text: str
    _at: int

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        character = self._peek()
        if not character:
            raise Unreadable(self._text)
        self._at += 1
        return character


class Automaton(PatternText):
    """A compiled pattern.

    Args:
        pattern: the regular expression.
        full: whether it must match up to the end of a name, or only its beginning.

    Raises:
        Unreadable: it is too long, malformed, or uses what the grammar lacks.
    """

    def __init__(self, pattern: str, full: bool = False) -> None:
        if len(pattern) > LENGTH or pattern.count("(") > GROUPS:
            raise Unreadable(pattern)
        # A state is (test of a character, next) or, without a test, its followers.
        self._tests: list[tuple[Callable[[str], bool], int] | None] = []
        self._jumps: list[list[int]] = []
        self._anchors: dict[int, list[tuple[str, int]]] = {}  # the anchors after a state, and what follows them
        self._full, self._text, self._at = full, pattern, 0
        start, end = self._alternatives()
        if self._at < len(pattern):
            raise Unreadable(pattern)
        self._end = end
        self._start = start
        self._moves: dict[tuple[frozenset[int], str, str], tuple[bool, frozenset[int]]] = {}
        self._kept = 0
        self.work = 0  # states that were looked at so far, for callers that bound it

    def matches(self, name: str) -> bool:
        """Whether the pattern matches from the beginning of the name."""
        states, before = frozenset({self._start}), ""
        for character in (*name, ""):
            step = (states, before, character)
            moved = self._moves.get(step)
            if moved is None:
                if len(self._moves) >= _STATES or self._kept >= _KEPT:
                    self._moves.clear()
                    self._kept = 0
                moved = self._moves[step] = self._step(states, before, character)
                self._kept += len(states)
            ended, states = moved
            if ended and (not self._full or not character):
                return True
            if not states:
                return False
            before = "a" if is_word(character) else "-"
        return False

    def _step(self, states: frozenset[int], before: str, after: str) -> tuple[bool, frozenset[int]]:
        """Whether the pattern may end here, and the states that the next character leads to."""
        reached = self._closure(states, before, after)
        self.work += len(reached)
        tests = [test for state in reached if (test := self._tests[state]) is not None] if after else []
        return self._end in reached, frozenset(follower for test, follower in tests if test(after))

    def _closure(self, states: frozenset[int], before: str, after: str) -> set[int]:
        """The states that are reached without a character; those behind an anchor only where it holds."""
        holds = {"^": not before, "$": not after}
        holds["b"] = is_word(before) != is_word(after)
        holds["B"] = not holds["b"]
        reached, waiting = set(states), list(states)
        while waiting:
            state = waiting.pop()
            anchored = [follower for anchor, follower in self._anchors.get(state, ()) if holds[anchor]]
            for follower in (*self._jumps[state], *anchored):
                if follower not in reached:
                    reached.add(follower)
                    waiting.append(follower)
        return reached

    def _state(self, *jumps: int) -> int:
        if len(self._tests) >= _SIZE:
            raise Unreadable(self._text)
        self._tests.append(None)
        self._jumps.append(list(jumps))
        return len(self._tests) - 1

    def _alternatives(self) -> tuple[int, int]:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        if len(parts) == 1:
            return parts[0]
        end = self._state()
        for _, last in parts:
            self._jumps[last].append(end)
        return self._state(*(first for first, _ in parts)), end

    def _sequence(self) -> tuple[int, int]:
        start = end = self._state()
        while (character := self._peek()) and character not in "|)":
            if anchor := self._anchor():
                after = self._state()
                self._anchors.setdefault(end, []).append((anchor, after))
                end = after
                continue
            first, last = self._repeated()
            self._jumps[end].append(first)
            end = last
        return start, end

    def _anchor(self) -> str:
        """The anchor that stands here, which is passed over; empty if there is none."""
        for text, anchor in _ANCHORS.items():
            if self._text.startswith(text, self._at):
                self._at += len(text)
                return anchor
        return ""

    def _repeated(self) -> tuple[int, int]:
        """An atom, as often as what follows it says."""
        begin = self._at
        first, last = self._atom()
        how = self._peek()
        if (count := counted(self._text, self._at)) is not None:
            least, most, self._at = count
            result = self._counted(begin, least, most)
        elif how in ("*", "+", "?"):
            self._at += 1
            result = self._looped(first, last, how)
        else:
            return first, last
        if self._peek() == "?":  # lazy or greedy, the same names match
            self._at += 1
        elif self._peek() == "+":  # possessive: it gives nothing back, which is not simulated
            raise Unreadable(self._text)
        return result

    def _looped(self, first: int, last: int, how: str) -> tuple[int, int]:
        if how in ("*", "+"):
            self._jumps[last].append(first)
        end = self._state()
        self._jumps[last].append(end)
        return (first if how == "+" else self._state(first, end)), end

    def _counted(self, begin: int, least: int, most: int | None) -> tuple[int, int]:
        """The atom that begins there, that often: each time anew, since a state belongs to one place."""
        after = self._at
        start = end = self._state()
        skips = []
        for number in range(max(least, most or least)):
            if number >= least:
                skips.append(end)
            self._at = begin
            first, last = self._atom()
            self._jumps[end].append(first)
            end = last
        if most is None:
            self._at = begin
            first, last = self._looped(*self._atom(), "*")
            self._jumps[end].append(first)
            end = last
        for place in skips:
            self._jumps[place].append(end)
        self._at = after
        return start, end

    def _atom(self) -> tuple[int, int]:
        character = self._next()
        if character == "(":
            if self._text.startswith("?:", self._at):
                self._at += 2
            elif self._peek() == "?":
                raise Unreadable(self._text)
            inner = self._alternatives()
            if self._next() != ")":
                raise Unreadable(self._text)
            return inner
        if character in "*+?{}":
            raise Unreadable(self._text)
        if character == ".":
            return self._one(lambda _: True)
        if character == "[":
            return self._one(self._class())
        if character == "\\":
            return self._one(escaped_test(self._next(), self._text))
        return self._one(lambda other: other == character)

    def _one(self, test: Callable[[str], bool]) -> tuple[int, int]:
        end = self._state()
        start = self._state()
        self._tests[start] = test, end
        return start, end

    def _class(self) -> Callable[[str], bool]:
        negated = self._peek() == "^"
        self._at += negated
        tests: list[Callable[[str], bool]] = []
        while (character := self._next()) != "]":
            if character == "\\":
                tests.append(escaped_test(self._next(), self._text))
            elif self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                tests.append(range_test(character, self._next()))
            else:
                tests.append(range_test(character, character))
        return lambda candidate: any(test(candidate) for test in tests) != negated


def counted(pattern: str, place: int) -> tuple[int, int | None, int] | None:
    """A count such as `{2,3}` at a place: the least, the most (None for any) and its end; None where there is none.

    Raises:
        Unreadable: the most is less than the least, or they are too long.
    """
    match = _COUNT.match(pattern, place)
    if match is None or match[0] in ("{}", "{,}"):
        return None
    if max(len(match[1]), len(match[3])) > _DIGITS:
        raise Unreadable(pattern)
    least = int(match[1] or 0)
    most = int(match[3]) if match[3] else None if match[2] else least
    if most is not None and most < least:
        raise Unreadable(pattern)
    return least, most, match.end()


def is_word(character: str) -> bool:
    """Whether a character belongs to a word; the empty text does not."""
    return character != "" and character in _WORD


def range_test(low: str, high: str) -> Callable[[str], bool]:
    """A test of a character: whether it is between two, both included."""
    return lambda character: low <= character <= high


def escaped_test(character: str, pattern: str) -> Callable[[str], bool]:
    """A test of a character, by what follows a backslash; raises Unreadable where that is not simulated."""
    if character.isalnum():
        if character.lower() not in _CLASSES:
            raise Unreadable(pattern)
        known = _CLASSES[character.lower()]
        return known.__contains__ if character.islower() else lambda other: other not in known
    return range_test(character, character)


def of_glob(pattern: str) -> Automaton:
    """A shell pattern with `*` and `?`, which must match a whole name.

    Raises:
        Unreadable: it is too long.
    """
    texts = {"*": ".*", "?": "."}
    parts = (texts.get(sign) or (sign if sign.isalnum() else f"\\{sign}") for sign in pattern)
    return Automaton("".join(parts), full=True)
