"""The report: everything a run says, as one versioned value that every reporter renders and JSON carries."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from hfcount.fetcher.documents import Documents
from hfcount.fetcher.shards import Shard
from hfcount.measures import Blueprint
from hfcount.text import printable
from hfcount.tree.dims import Polynomial, evaluate
from hfcount.verifier.evidence import Index
from hfcount.verifier.findings import Finding, Outcome
from hfcount.verifier.rules import Policy

Verdict = Literal["verified", "explained", "mismatch", "unverified"]
Depth = Literal["config", "index", "headers"]
Extra = Literal["tensors", "formula"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Parameters(_Part):
    """Elements. `stored` is what the checkpoint holds, copies and buffers included; null when nothing tells it."""

    total: int | None
    active: int | None
    active_without_embedding: int | None
    stored: int | None


class Component(_Part):
    """Parameters of one component, in elements."""

    name: str
    total: int
    active: int


class Evidence(_Part):
    """What was published: bytes, elements, numbers of tensors and shards, elements by dtype.

    `unlisted` are weight files beside the shards that the index does not name.
    """

    total_size: int | None = None
    total_parameters: int | None = None
    tensors: int | None = None
    shards: int | None = None
    dtypes: dict[str, int] | None = None
    unlisted: tuple[str, ...] = ()


class Comparison(_Part):
    """One number that was expected and observed; `text` says how the expected one comes about."""

    name: str
    expected: int
    observed: int
    agrees: bool
    text: str


class ReportedFinding(_Part):
    """One difference: `tensors` folded into rows, `count` of them, their `parameters` (elements) and `bytes`."""

    code: str
    name: str
    severity: Literal["error", "note"]
    message: str
    tensors: tuple[str, ...]
    count: int
    parameters: int | None
    bytes: int | None


class TensorRow(_Part):
    """All tensors of the blueprint whose names differ only in indices; `elements` is their sum."""

    name: str
    count: int
    shape: tuple[int, ...]
    component: str
    kind: str
    elements: int


class FormulaPart(_Part):
    """The closed form of one component or the whole: with symbols, with numbers, and its value in elements."""

    component: str
    symbols: str
    numbers: str
    value: int


class ClosedForm(_Part):
    """The formula of every component, the whole last, and what each symbol stands for."""

    parts: tuple[FormulaPart, ...]
    legend: dict[str, int]


class Failure(_Part):
    """Why a run could not look."""

    kind: str
    message: str


class Report(_Part):
    """What hfcount says of one checkpoint.

    The fields and their meaning are a promise under `schema` 1: fields may be added, none changes or goes. `asides`
    are the parts of the model that are not described: the prefix of their names, and why.
    """

    schema_version: Literal[1] = 1
    model: str
    revision: str | None = None
    source: Literal["hub", "cache", "folder", "fixtures"] | None = None
    family: str | None = None
    architecture: str | None = None
    dtype: str | None = None
    depth: Depth | None = None
    depth_reason: str | None = None
    verdict: Verdict
    parameters: Parameters | None = None
    components: tuple[Component, ...] = ()
    auxiliary: dict[str, int] = {}
    evidence: Evidence | None = None
    checks: tuple[Comparison, ...] = ()
    findings: tuple[ReportedFinding, ...] = ()
    asides: dict[str, str] | None = None
    tensors: tuple[TensorRow, ...] | None = None
    formula: ClosedForm | None = None
    error: Failure | None = None

    @property
    def exit_code(self) -> int:
        """0 verified, explained or only counted, 1 mismatch, 3 unverified or could not look."""
        if self.verdict == "unverified":
            return 0 if self.depth == "config" and self.error is None else 3
        return 1 if self.verdict == "mismatch" else 0

    def to_json(self) -> str:
        """The report as one line of ASCII JSON; what is seldom there is left out where it says nothing."""
        absent = {name for name in ("asides", "tensors", "formula", "error") if getattr(self, name) is None}
        fields = self.model_dump(exclude=absent)
        return json.dumps({"schema": fields.pop("schema_version"), **fields})


def compose(
    documents: Documents,
    plan: Blueprint | None,
    index: Index | None,
    shards: Mapping[str, Shard] | None,
    outcome: Outcome,
    depth: Depth,
    why: str | None,
    policy: Policy,
    unseen: Failure | None,
    extras: Collection[Extra],
) -> Report:
    """The report of one checkpoint.

    Args:
        why: why headers were read; unseen: what could not be looked at; extras: what else is wanted.
    """
    findings = tuple(_finding(finding, policy) for finding in outcome.findings)
    report = Report(
        model=printable(documents.model),
        revision=documents.revision,
        source=documents.source,
        depth=depth,
        depth_reason=why,
        verdict=_verdict(findings, plan is not None and outcome.proven and unseen is None and not plan.asides),
        checks=tuple(
            Comparison(
                name=check.name, expected=check.expected, observed=check.observed, agrees=check.agrees, text=check.text
            )
            for check in outcome.checks
        ),
        findings=findings,
        error=unseen,
        evidence=_evidence(documents, index, shards, outcome),
    )
    return report if plan is None else report.model_copy(update=_counts(plan, outcome, extras))


def _evidence(
    documents: Documents, index: Index | None, shards: Mapping[str, Shard] | None, outcome: Outcome
) -> Evidence | None:
    if index is None and shards is None:
        return None
    headers = [shard.header for shard in (shards or {}).values() if shard.header]
    visible = documents.shards.names
    named = index.shards if index else (shards or {}).keys()
    return Evidence(
        total_size=index.total_size if index else None,
        total_parameters=index.total_parameters if index else None,
        tensors=len(index.weight_map) if index else sum(len(header.tensors) for header in headers),
        shards=len(named),
        dtypes=outcome.dtypes,
        unlisted=tuple(printable(name) for name in sorted(visible) if name not in named) if index and visible else (),
    )


def _counts(plan: Blueprint, outcome: Outcome, extras: Collection[Extra]) -> dict[str, Any]:
    spec, whole = plan.spec, not plan.asides
    stored = any(finding.rule.code == "HF208" for finding in outcome.findings)
    return {
        "family": spec.family,
        "architecture": printable(spec.architecture) or None,
        "dtype": printable(spec.dtype) if spec.dtype else None,
        "parameters": Parameters(
            total=plan.total if whole else None,
            active=plan.active if whole else None,
            active_without_embedding=plan.active_without_embedding if whole else None,
            stored=outcome.stored,
        ),
        "components": tuple(
            Component(name=role, total=measure.total, active=measure.active)
            for role, measure in plan.by_component.items()
        ),
        "auxiliary": {"mtp": plan.mtp if spec.mtp_announced or stored else 0},
        "asides": dict(plan.reasons) or None,
        "tensors": tuple(
            TensorRow(
                name=printable(row.name),
                count=row.count,
                shape=tuple(map(int, row.shape)),
                component=row.role,
                kind=row.kind,
                elements=row.elements,
            )
            for row in plan.rows()
        )
        if "tensors" in extras
        else None,
        "formula": _closed_form(plan) if "formula" in extras else None,
    }


def _closed_form(plan: Blueprint) -> ClosedForm:
    formula = plan.formula()
    parts: dict[str, Polynomial] = {**formula.components, "total": formula.total}
    return ClosedForm(
        parts=tuple(
            FormulaPart(
                component=name,
                symbols=formula.text(terms),
                numbers=formula.numbers(terms),
                value=evaluate(terms),
            )
            for name, terms in parts.items()
        ),
        legend=formula.legend,
    )


def _finding(finding: Finding, policy: Policy) -> ReportedFinding:
    return ReportedFinding(
        code=finding.rule.code,
        name=finding.rule.name,
        severity=policy.severity(finding.rule),
        message=finding.message,
        tensors=finding.tensors,
        count=finding.count,
        parameters=finding.parameters,
        bytes=finding.bytes,
    )


def _verdict(findings: Sequence[ReportedFinding], proven: bool) -> Verdict:
    if any(finding.severity == "error" for finding in findings):
        return "mismatch"
    if not proven or any(finding.code == "HF501" for finding in findings):
        return "unverified"
    return "explained" if any(finding.code != "HF102" for finding in findings) else "verified"


def worst(codes: Sequence[int]) -> int:
    """The exit code of several reports: 1 before 3 before 0."""
    return next((code for code in (1, 3) if code in codes), 0)
