"""The result of verification: comparisons of numbers, and findings that explain differences."""

from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from hfcount.errors import BrokenRule
from hfcount.formats.samples import Piece
from hfcount.record import Record, State, made
from hfcount.verifier.finding import Finding, Statement
from hfcount.verifier.match import Match
from hfcount.verifier.rules import RULES

DIFFERING = ("HF201", "HF202", "HF301")
"""Findings about names and shapes, whose cause is looked for."""

PACKED = ("HF303", "HF502", "HF503")
"""Findings about packed weights, whose settings may be wrong."""

if TYPE_CHECKING:
    from hfcount.quantization.packing.packed import Packed


class Check(NamedTuple):
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


class TensorFacts(TypedDict):
    """The facts of a finding about tensors: folded names, number of tensors, elements and bytes."""

    tensors: tuple[str, ...]
    count: int
    parameters: int
    bytes: int | None


class ModuleResult(Record, kw_only=False):
    """A module of sentence-transformers: its folder, its class and its tensors.

    Args:
        parameters: elements of its tensors; None if they are not known.
        tensors: how many it has; None if they are not known.
        width: features of the embedding after it; None if that is not known.
        agrees: whether its settings and tensors are as its class needs them; None if that was not compared.
    """

    path: str
    kind: str
    parameters: int | None = None
    tensors: int | None = None
    width: int | None = None
    agrees: bool | None = None


class Outcome(State, kw_only=False):
    """The result of all checks.

    Args:
        stored: elements in the checkpoint; None if unknown.
        dtypes: elements in the checkpoint by dtype; None if unknown.
        proven: whether the bytes were compared with an exact number.
        settled: whether names and bytes agree exactly, so that headers need not be read.
        doubt: why headers have to be read nevertheless.
        sized: how many files have the size that their tensors need, by the index.
        match: how the names match, for reuse when headers are read.
        predicting: whether multi-token-prediction layers are stored.
        pieces: byte ranges to sample, which show whether tied copies are equal.
        untied: tied tensors that are stored with other values, so that transformers does not tie them.
        packed: how quantised weights are stored; None for dense weights or an unknown scheme.
        modules: the modules of sentence-transformers around the model.
    """

    checks: list[Check] = made(factory=list)
    findings: list[Finding] = made(factory=list)
    stored: int | None = None
    dtypes: dict[str, int] | None = None
    proven: bool = False
    settled: bool = False
    doubt: str | None = None
    sized: int = 0
    match: Match | None = None
    predicting: bool = False
    pieces: list[Piece] = made(factory=list)
    untied: frozenset[str] = frozenset()
    packed: "Packed[Match] | None" = None
    modules: tuple[ModuleResult, ...] = ()

    def has(self, *codes: str) -> bool:
        """Whether any of these was reported."""
        return any(finding.code in codes for finding in self.findings)

    def rename_file(self, old: str, new: str) -> None:
        """Renames a file in all findings."""
        self.findings = [finding.replace(file=new) if finding.file == old else finding for finding in self.findings]

    def report(self, finding: Finding) -> None:
        """Adds a finding."""
        self.findings.append(finding)

    def errors_first(self) -> None:
        """Sorts errors before notes, otherwise in the order of their reports."""
        self.findings.sort(key=lambda finding: finding.severity != "error")


def finding_of(error: BrokenRule, file: str) -> Finding:
    """The finding of a document that breaks a rule; `file` is that document's, unless the error names one."""
    rule = cast(type[Statement], RULES[error.code])
    return rule(
        severity="note" if error.built else rule.level,
        expected=error.expected,
        observed=error.observed,
        key=error.key,
        file=error.file or file,
        fix=error.fix,
        variant=error.variant,
        statement=error.text,
    )
