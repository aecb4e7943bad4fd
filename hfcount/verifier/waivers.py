"""Waivers: which findings a settings file lets through, why, and until when."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

from hfcount.verifier.finding import Finding
from hfcount.verifier.folded_names import filled, names_of, numbers_of, parts_of

_UNKNOWN = "\0" * 20  # for indices that a row does not list


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
        listed = names_of(row)
        names += count if listed is None else len(listed)
        if not all(map(matches.fullmatch, _of_unknown(row) if listed is None else listed)):
            return False
    return 0 < names >= count


@cache
def compiled(pattern: str) -> "re.Pattern[str]":
    """A pattern of names: `*` stands for any characters, `?` for one, and `{0-3,7}` for one of these numbers.

    Raises:
        ValueError: what braces enclose are no numbers, or too many.
    """
    translated = []
    for place, part in enumerate(parts_of(pattern)):
        numbers = numbers_of(part) if place % 2 else None
        if place % 2 and numbers is None:
            raise ValueError(f"{{{part}}} is no list of numbers, such as {{0-3,7}}")
        translated.append(_wildcards(part) if numbers is None else f"(?:{'|'.join(map(str, numbers))})")
    return re.compile("".join(translated), re.DOTALL)


def _wildcards(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def _of_unknown(row: str) -> Iterator[str]:
    """A row that does not list its indices, with what only `*` matches in their place."""
    parts = parts_of(row)
    return filled(parts, [(_UNKNOWN,)] * (len(parts) // 2))
