"""What checking yields: checks that compare two numbers, and findings that explain a difference."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hfcount.errors import Value
from hfcount.fetcher.interface import CONFIG
from hfcount.text import printable
from hfcount.verifier.hints import Hint
from hfcount.verifier.messages import render
from hfcount.verifier.names import Match
from hfcount.verifier.rules import RULES, Rule

_ROWS = 100  # folded names that a report lists


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
        subject: what is described: an architecture or a family.
        expected, observed: what differs, as numbers, names, dtypes or shapes; None where it is not two such values.
        key: of the config or of the index's metadata, and `file` in the checkpoint; the first, where there are several.
        tensors: their names, folded; `count` of them.
        parameters: their elements; None when they cannot be known.
        bytes: their size; None when it cannot be known.
        fix: what to do, as the last sentences of the message.
        hints: values of the config that would fit.
        facts: what else the message says.
    """

    rule: Rule
    subject: str = ""
    expected: Value = None
    observed: Value = None
    key: str | None = None
    file: str | None = None
    tensors: tuple[str, ...] = ()
    count: int = 0
    parameters: int | None = 0
    bytes: int | None = 0
    fix: str | None = None
    hints: tuple[Hint, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """What, where, both values, which values of the config would fit, and what to do."""
        own = {name: getattr(self, name) for name in self.__slots__}
        said = [render(self.rule.says, own | dict(self.facts)) if self.rule.says else str(self.facts["said"])]
        return " ".join([*said, *map(str, self.hints), *([self.fix] if self.fix else [])])

    @property
    def rows(self) -> tuple[str, ...]:
        """The folded names, safe to print, and how many more there are than a report lists."""
        rows = tuple(map(printable, self.tensors[:_ROWS]))
        more = len(self.tensors) - _ROWS
        return (*rows, f"... and {more:,} more rows") if more > 0 else rows


@dataclass(slots=True)
class Outcome:
    """What was found.

    Args:
        stored: elements in the checkpoint, and `dtypes` the same by dtype; None when nothing tells them.
        proven: whether the bytes were held against an exact number.
        settled: whether names and bytes agree exactly, so that there is no need to look further.
        match: how the names agree, for a step that looks further.
        predicting: whether multi-token-prediction layers are stored.
    """

    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    stored: int | None = None
    dtypes: dict[str, int] | None = None
    proven: bool = False
    settled: bool = False
    match: Match | None = None
    predicting: bool = False

    def report(
        self,
        code: str,
        subject: str = "",
        *,
        expected: Value = None,
        observed: Value = None,
        key: str | None = None,
        file: str | None = None,
        tensors: Iterable[str] = (),
        count: int = 0,
        parameters: int | None = 0,
        bytes: int | None = 0,
        fix: str | None = "",
        hints: Iterable[Hint] = (),
        **facts: Any,
    ) -> None:
        """Adds a finding; without a `fix` of its own it has that of its rule."""
        rule = RULES[code]
        if fix == "":
            fix = rule.do if rule.says and rule.mends else None
        fitting = tuple(hints)
        if fitting:  # arithmetic over keys, which has spaces, is no place in the config
            own = fitting[0].key.removesuffix(", by default")
            key, file = (None if " " in own else own), CONFIG
        values = expected, observed, key, file, tuple(tensors), count, parameters, bytes, fix, fitting, facts
        self.findings.append(Finding(rule, subject, *values))
