"""Regular expressions from a config, matched in linear time: a backtracking engine could be kept busy for ever.

The grammar is what such lists hold: literals, `.`, classes, `\\d \\w \\s`, groups, `|`, `* + ?` and anchors. A pattern
becomes a nondeterministic automaton (Thompson's construction), whose sets of states are computed as names need them.
"""

from collections.abc import Callable

_LENGTH = 2_000  # characters of a pattern
_GROUPS = 100
_STATES = 4_000  # remembered sets of states
_CLASSES = {"d": "0123456789", "w": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", "s": " \t\n"}


class Unreadable(ValueError):
    """A pattern beyond the grammar."""


class Automaton:
    """A compiled pattern.

    Args:
        pattern: the regular expression.
        whole: whether it must match up to the end of a name, or only its beginning.

    Raises:
        Unreadable: it is too long, malformed, or uses what the grammar lacks.
    """

    def __init__(self, pattern: str, whole: bool = False) -> None:
        if len(pattern) > _LENGTH or pattern.count("(") > _GROUPS:
            raise Unreadable(pattern)
        # A state is (test of a character, next) or, without a test, its followers.
        self._tests: list[tuple[Callable[[str], bool], int] | None] = []
        self._jumps: list[list[int]] = []
        self._whole, self._text, self._at = whole, pattern, 0
        start, end = self._alternatives()
        if self._at < len(pattern):
            raise Unreadable(pattern)
        self._end = end
        self._start = self._closure({start}, True)
        self._moves: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def matches(self, name: str) -> bool:
        """Whether the pattern matches from the beginning of the name."""
        states = self._start
        for character in name:
            if not self._whole and self._end in states:
                return True
            states = self._step(states, character)
            if not states:
                return False
        return self._end in self._closure(states, False, True)

    def _step(self, states: frozenset[int], character: str) -> frozenset[int]:
        found = self._moves.get((states, character))
        if found is None:
            reached = {test[1] for state in states if (test := self._tests[state]) and test[0](character)}
            found = self._closure(reached, False)
            if len(self._moves) >= _STATES:
                self._moves.clear()
            self._moves[states, character] = found
        return found

    def _closure(self, states: set[int] | frozenset[int], first: bool, last: bool = False) -> frozenset[int]:
        """The states that are reached without a character; anchors are passed at the first or last place only."""
        found, waiting = set(states), list(states)
        while waiting:
            for follower in self._jumps[waiting.pop()]:
                passed = follower
                if follower < 0:  # an anchor: -1 - 2·state for ^, -2 - 2·state for $
                    passed, kind = divmod(-1 - follower, 2)
                    if not (last if kind else first):
                        continue
                if passed not in found:
                    found.add(passed)
                    waiting.append(passed)
        return frozenset(found)

    def _state(self, *jumps: int) -> int:
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
            if character in "^$":
                self._at += 1
                after = self._state()
                self._jumps[end].append(-1 - 2 * after - (character == "$"))
                end = after
                continue
            first, last = self._repeated(*self._atom())
            self._jumps[end].append(first)
            end = last
        return start, end

    def _repeated(self, first: int, last: int) -> tuple[int, int]:
        how = self._peek()
        if how not in ("*", "+", "?"):
            return first, last
        self._at += 1
        if self._peek() in ("?", "+"):  # lazy or greedy, the same names match
            self._at += 1
        if how in ("*", "+"):
            self._jumps[last].append(first)
        end = self._state()
        self._jumps[last].append(end)
        return (first if how == "+" else self._state(first, end)), end

    def _atom(self) -> tuple[int, int]:
        character = self._next()
        if character == "(":
            if self._text.startswith("?:", self._at):
                self._at += 2
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
            return self._one(_escaped(self._next(), self._text))
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
                tests.append(_escaped(self._next(), self._text))
            elif self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                tests.append(_between(character, self._next()))
            else:
                tests.append(_between(character, character))
        return lambda one: any(test(one) for test in tests) != negated

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        character = self._peek()
        if not character:
            raise Unreadable(self._text)
        self._at += 1
        return character


def _between(low: str, high: str) -> Callable[[str], bool]:
    return lambda one: low <= one <= high


def _escaped(character: str, pattern: str) -> Callable[[str], bool]:
    if character.isalnum():
        if character not in _CLASSES:
            raise Unreadable(pattern)
        return _CLASSES[character].__contains__
    return _between(character, character)


def of_glob(pattern: str) -> Automaton:
    """A shell pattern with `*` and `?`, which must match a whole name.

    Raises:
        Unreadable: it is too long.
    """
    texts = {"*": ".*", "?": "."}
    return Automaton("".join(texts.get(one) or (one if one.isalnum() else f"\\{one}") for one in pattern), whole=True)
