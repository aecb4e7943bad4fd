"""What checking yields: checks that compare two numbers, and findings that explain a difference."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hfcount.errors import Value
from hfcount.formats.samples import Piece
from hfcount.text import printable
from hfcount.verifier.messages import render
from hfcount.verifier.names import Match
from hfcount.verifier.rules import RULES, Rule, Severity

DIFFERING = ("HF201", "HF202", "HF301")
"""Findings about names and shapes, whose cause is looked for."""

PACKED = ("HF303", "HF502", "HF503")
"""Findings about packed weights, whose settings may be wrong."""

if TYPE_CHECKING:
    from hfcount.quantization.stored.packed import Packed

_ROWS = 100  # folded names that a report lists


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison of numbers; `text` says how the expected one was computed.

    `alike` is whether what was counted is the same, too, and not only the number.
    """

    name: str
    expected: int
    observed: int
    text: str = ""
    alike: bool = True

    @property
    def agrees(self) -> bool:
        """Whether both numbers are the same, and what was counted."""
        return self.alike and self.expected == self.observed


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference, explained.

    Args:
        rule: the rule that is broken.
        severity: that of its rule, unless the case is milder or worse than the others of the rule.
        subject: the architecture or family, for the message.
        expected, observed: the two values that differ: numbers, names, dtypes or shapes.
        key: the key of the config or of the index's metadata, the first if there are several.
        file: the file in the checkpoint, the first if there are several.
        tensors: the names of the tensors, folded.
        parts: the same by whole parts and whole layers, where that is shorter.
        count: the number of tensors.
        parameters: elements of the tensors; None if unknown.
        bytes: bytes of the tensors; None if unknown.
        fix: what to do, as the last sentences of the message.
        cause: why it is so, in sentences, if that is known.
        joined: findings of the same cause, which are told with this one.
        changes: what the config would have to say instead, by key, if that is the cause.
        sole: whether that is all that is known to explain it.
        facts: further values in the message.
    """

    rule: Rule
    severity: Severity
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
    cause: str | None = None
    parts: tuple[str, ...] = ()
    joined: "tuple[Finding, ...]" = ()
    changes: Mapping[str, Any] = field(default_factory=dict)
    sole: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bars(self) -> bool:
        """Whether it keeps a checkpoint from being good: an error, or what is loaded and may be of no use."""
        return self.severity == "error" or self.rule.proof == "doubted"

    @property
    def message(self) -> str:
        """The finding in sentences: what differs, where, both values, the cause, and the fix."""
        joined = [f"For the same reason: {finding.said}" for finding in self.joined]
        return " ".join(filter(None, [self.said, *joined, self.cause, self.fix]))

    @property
    def codes(self) -> frozenset[str]:
        """Its rule's code, and those of the findings that are told with it."""
        return frozenset(one.rule.code for one in (self, *self.joined))

    @property
    def said(self) -> str:
        """What differs, where, and both values."""
        own = {name: getattr(self, name) for name in self.__slots__} | {"tensors": self.parts or self.tensors}
        return render(self.rule.says, own | dict(self.facts)) if self.rule.says else str(self.facts["said"])

    @property
    def rows(self) -> tuple[str, ...]:
        """The folded names, safe to print; after the first 100 only the number of the rest."""
        rows = tuple(map(printable, self.tensors[:_ROWS]))
        more = len(self.tensors) - _ROWS
        return (*rows, f"... and {more:,} more rows") if more > 0 else rows


@dataclass(slots=True)
class Outcome:
    """What was found.

    Args:
        stored: elements in the checkpoint; None if unknown.
        dtypes: elements in the checkpoint by dtype; None if unknown.
        proven: whether the bytes were compared with an exact number.
        settled: whether names and bytes agree exactly, so that headers need not be read.
        doubt: why headers have to be read all the same.
        sized: how many files have the size that their tensors need, by the index.
        match: how the names match, for reuse when headers are read.
        predicting: whether multi-token-prediction layers are stored.
        pieces: parts of the files that would tell whether copies are copies.
        apart: names of tied tensors that are stored with values of their own, which the reference then does not tie.
        packed: how quantised weights are stored; None where nothing says that they are, or it is not described.
    """

    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    stored: int | None = None
    dtypes: dict[str, int] | None = None
    proven: bool = False
    settled: bool = False
    doubt: str | None = None
    sized: int = 0
    match: Match | None = None
    predicting: bool = False
    pieces: list[Piece] = field(default_factory=list)
    apart: frozenset[str] = frozenset()
    packed: "Packed[Match] | None" = None

    def has(self, *codes: str) -> bool:
        """Whether any of these was reported."""
        return any(finding.rule.code in codes for finding in self.findings)

    def report(
        self,
        code: str,
        subject: str = "",
        *,
        severity: Severity | None = None,
        expected: Value = None,
        observed: Value = None,
        key: str | None = None,
        file: str | None = None,
        tensors: Iterable[str] = (),
        count: int = 0,
        parameters: int | None = 0,
        bytes: int | None = 0,
        fix: str | None = "",
        **facts: Any,
    ) -> None:
        """Adds a finding; `severity` and `fix` are by default those of its rule, and a `fix` of None means none."""
        rule = RULES[code]
        if fix == "":
            fix = rule.do if rule.says and rule.mends else None
        values = expected, observed, key, file, tuple(tensors), count, parameters, bytes, fix
        self.findings.append(Finding(rule, severity or rule.severity, subject, *values, facts=facts))


def difference(number: int, expected: int) -> dict[str, Any]:
    """The fact `more` or `fewer`: by how much the number differs from the expected one."""
    return {"more": number - expected} if number > expected else {"fewer": expected - number}
