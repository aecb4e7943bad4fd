"""What checking yields: checks that compare two numbers, and findings that explain a difference."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from hfcount.text import printable
from hfcount.verifier.names import Match
from hfcount.verifier.rules import RULES, Rule

_ROWS = 100  # folded names that a finding lists


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; `text` says how the expected number comes about."""

    name: str
    expected: int
    observed: int
    text: str = ""

    @property
    def agrees(self) -> bool:
        """Whether both numbers are the same."""
        return self.expected == self.observed


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference, explained.

    Args:
        rule: what it is a case of.
        message: what, where, both numbers, and what to do.
        tensors: their names, folded; `count` of them.
        parameters: their elements; None when they cannot be known.
        bytes: their size; None when it cannot be known.
    """

    rule: Rule
    message: str
    tensors: tuple[str, ...] = ()
    count: int = 0
    parameters: int | None = 0
    bytes: int | None = 0


@dataclass(slots=True)
class Outcome:
    """What was found.

    Args:
        stored: elements in the checkpoint, and `dtypes` the same by dtype; None when nothing tells them.
        proven: whether the bytes were held against an exact number.
        settled: whether names and bytes agree exactly, so that there is no need to look further.
        match: how the names agree, for a step that looks further.
    """

    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    stored: int | None = None
    dtypes: dict[str, int] | None = None
    proven: bool = False
    settled: bool = False
    match: Match | None = None

    def report(
        self,
        code: str,
        message: str,
        tensors: Iterable[str] = (),
        count: int = 0,
        parameters: int | None = 0,
        bytes: int | None = 0,
    ) -> None:
        """Adds a finding; `tensors` are folded names."""
        rows = [printable(row) for row in tensors]
        if len(rows) > _ROWS:
            rows[_ROWS:] = [f"... and {len(rows) - _ROWS:,} more rows"]
        self.findings.append(Finding(RULES[code], message, tuple(rows), count, parameters, bytes))
