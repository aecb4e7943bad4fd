"""Waivers: which findings a settings file lets through, why, and until when."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from itertools import product
from math import prod
from typing import NamedTuple

from hfcount.verifier.finding import Finding

_FOLDED = re.compile(r"\{([^{}]*)\}")  # as verifier/folded_names.py writes indices
_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?: step (\d{1,9}))?)?")
_MOST = 100_000  # names that a row, and numbers that a pattern, may stand for
_UNKNOWN = "\0" * 20  # for indices that a row does not list: only `*` matches it


class Waiver(NamedTuple):
    """An error that is let through for a reason.

    Args:
        code: of a rule.
        reason: why it is let through.
        until: the last day that it counts; None for ever.
        tensor: a pattern that every tensor of the finding has to match; None for any finding.
        path: the pattern of checkpoints that it is for, as it is written; None for all.
        file: the settings file that it is from, as messages call it.
        line: where it stands in that; None if unknown.
    """

    code: str
    reason: str
    until: date | None = None
    tensor: str | None = None
    path: str | None = None
    file: str = ""
    line: int | None = None

    def is_over(self, today: date) -> bool:
        """Whether its last day is past."""
        return self.until is not None and self.until < today

    def covers(self, finding: Finding) -> bool:
        """Whether it is for a finding, whatever the day: for all of its tensors, if it names some."""
        if finding.code != self.code:
            return False
        return self.tensor is None or _match_all(self.tensor, finding.tensors, finding.count)


def _match_all(pattern: str, rows: Sequence[str], count: int) -> bool:
    """Whether all tensors match; rows that stand for less than `count` names leave some unknown."""
    matches = compiled(pattern)
    names = 0
    for row in rows:
        indices, listed = _indices(row)
        names += prod(map(len, indices)) if listed else count
        if not all(map(matches.fullmatch, _unfolded(row, indices))):
            return False
    return 0 < names >= count


@cache
def compiled(pattern: str) -> "re.Pattern[str]":
    """A pattern of names: `*` stands for any characters, `?` for one, and `{0-3,7}` for one of these numbers.

    Raises:
        ValueError: what braces enclose are no numbers, or too many.
    """
    translated = []
    for place, part in enumerate(_FOLDED.split(pattern)):
        numbers = _numbers(part) if place % 2 else None
        if place % 2 and numbers is None:
            raise ValueError(f"{{{part}}} is no list of numbers, such as {{0-3,7}}")
        translated.append(_wildcards(part) if numbers is None else f"(?:{'|'.join(map(str, numbers))})")
    return re.compile("".join(translated), re.DOTALL)


def _wildcards(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def _indices(row: str) -> tuple[list[Sequence[int | str]], bool]:
    """The indices at each fold of a row, and whether the row lists them all."""
    folds = [_numbers(text) for text in _FOLDED.findall(row)]
    listed = [numbers for numbers in folds if numbers is not None]
    if len(listed) == len(folds) and prod(map(len, listed)) <= _MOST:
        return [*listed], True
    return [(_UNKNOWN,) for _ in folds], False


def _unfolded(row: str, indices: Sequence[Sequence[int | str]]) -> Iterator[str]:
    """The names that a row stands for."""
    first, *rest = _FOLDED.split(row)[::2]
    for numbers in product(*indices):
        yield first + "".join(f"{number}{text}" for number, text in zip(numbers, rest, strict=True))


def _numbers(text: str) -> list[int] | None:
    """The numbers of `0-3,7,10-20 step 2`; None where it is no such list, or too long."""
    numbers: list[int] = []
    for part in text.split(","):
        span = _SPAN.fullmatch(part)
        if span is None:
            return None
        several = range(int(span[1]), int(span[2] or span[1]) + 1, int(span[3] or 1) or 1)
        if len(numbers) + len(several) > _MOST:
            return None
        numbers += several
    return numbers
