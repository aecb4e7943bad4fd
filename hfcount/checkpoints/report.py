"""Builds the report of an inspection: it shows what it is given."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from hfcount.blueprints.blueprint import Blueprint, Row
from hfcount.checkpoints.inspection import Contained, Figures, Inspection
from hfcount.errors import Value
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.unread_files import beside
from hfcount.fetcher.weights import Weights
from hfcount.report.figures import ComponentCount, ModuleRow, Parameters, TensorRow
from hfcount.report.model import (
    Allowed,
    Beside,
    Evidence,
    Files,
    Report,
    ReportedCheck,
    ReportedFinding,
    Verdict,
)
from hfcount.report.serving import Memory
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import ModuleResult
from hfcount.verifier.policy import Policy

_MOST = 100  # files of a kind that are named


def compose(run: Inspection, figures: Figures | None) -> Report:
    """The report of one checkpoint; `figures` are None if it has no blueprint."""
    blueprint, evidence, outcome, policy = run.blueprint, run.evidence, run.outcome, run.options.policy
    findings = tuple(reported(finding, policy, run.documents) for finding in outcome.findings)
    return Report(
        model=printable(run.documents.model),
        revision=run.documents.revision,
        source=run.documents.source,
        container=evidence.container,
        depth=evidence.depth,
        depth_reason=evidence.depth_reason,
        verdict=verdict(outcome.findings, policy, _is_seen(run), outcome.proven),
        checks=tuple(
            ReportedCheck(
                name=check.name, expected=check.expected, observed=check.observed, agrees=check.agrees, text=check.text
            )
            for check in outcome.checks
        ),
        findings=findings,
        allowed=waived(outcome.findings, policy),
        error=evidence.unseen,
        evidence=_evidence(run),
        not_looked_at=_beside(run),
        overrides=dict(run.changes) or None,
        variants=evidence.variants or None,
        adapter=evidence.adapter,
        modules=tuple(map(_module, outcome.modules)) or None,
        statistics=evidence.statistics,
        target=None if run.target is None else printable(run.target),
        **(_counts(run, blueprint, figures) if blueprint and figures else _held(run)),
    )


def _is_seen(run: Inspection) -> bool:
    """Whether all that is to be judged was compared with what is described, or with what it says of itself."""
    described = run.blueprint is not None and not run.blueprint.unmodeled
    compared = described or run.evidence.contained is not None
    return compared and run.evidence.unseen is None and run.evidence.depth != "config"


def _module(result: ModuleResult) -> ModuleRow:
    verdicts: dict[bool | None, Literal["verified", "mismatch", "unverified"]]
    verdicts = {None: "unverified", True: "verified", False: "mismatch"}
    return ModuleRow(
        path=printable(result.path),
        kind=printable(result.kind),
        verdict=verdicts[result.agrees],
        parameters=result.parameters,
        tensors=result.tensors,
        width=result.width,
    )


def _evidence(run: Inspection) -> Evidence | None:
    index, shards, weights = run.evidence.index, run.evidence.shards, run.evidence.weights
    if run.evidence.contained is not None:
        return _contained(run, run.evidence.contained)
    if index is None and shards is None:
        return None
    headers = [shard.header for shard in (shards or {}).values() if shard.header]
    visible = run.documents.shards.names
    named = index.shards if index else (shards or {}).keys()
    return Evidence(
        total_size=index.total_size if index else None,
        total_parameters=index.total_parameters if index else None,
        tensors=len(index.weight_map) if index else sum(len(header.tensors) for header in headers),
        shards=len(named),
        dtypes=run.outcome.dtypes,
        unlisted=tuple(printable(name) for name in sorted(visible) if name not in named) if index and visible else (),
        files=_files(run, weights) if weights else None,
    )


def _contained(run: Inspection, contained: Contained) -> Evidence:
    """What was published in a container of another format than safetensors."""
    files = Files(named=contained.files, found=contained.opened, sized=contained.opened, opened=contained.opened)
    return Evidence(tensors=contained.tensors, shards=contained.files, dtypes=run.outcome.dtypes, files=files)


def _held(run: Inspection) -> dict[str, Any]:
    """What a container holds of which no blueprint is known."""
    contained = run.evidence.contained
    if contained is None or not contained.bytes:
        return {}
    stored, total = run.outcome.stored, run.evidence.adapter.parameters if run.evidence.adapter else contained.total
    load, size = run.options.load, sum(contained.bytes.values())
    held: dict[str, Any] = {
        "parameters": Parameters(total=total, active=None, active_without_embedding=None, stored=stored),
        "memory": Memory(weights_bytes=size, weights=dict(contained.bytes), available_bytes=load.memory),
        "tensors": contained.rows,
    }
    if load.asked and contained.unserved:
        from hfcount.serving.answers import unanswered

        held["serving"] = unanswered(load, contained.unserved)
    return held


def _files(run: Inspection, weights: Weights) -> Files:
    known = weights.sizes is not None and (weights.whole or len(weights.sizes) >= len(weights.named))
    return Files(
        named=len(weights.named),
        found=sum(name in (weights.sizes or ()) for name in weights.named) if known else None,
        sized=run.outcome.sized,
        opened=len(run.evidence.headers or ()),
        apart={printable(name): why for name, why in sorted(weights.apart.items()) if name not in run.evidence.others},
    )


def _beside(run: Inspection) -> tuple[Beside, ...]:
    """What lies beside the model and was not looked at; of a config that was only counted nothing is said."""
    weights, evidence = run.evidence.weights, run.evidence
    if weights is None and not (evidence.contained and evidence.beside):
        return ()
    seen, names = {*(evidence.headers or ()), *evidence.beside, *evidence.others}, {*run.documents.files}
    seen.update(run.documents.companions)
    if weights is not None:
        seen.update(weights.named if evidence.index else ())
        names = {*weights.files, *(weights.sizes or ()), *weights.apart}
    found = beside(names, seen, run.documents.companions)
    return tuple(
        Beside(kind=kind, count=len(files), files=tuple(printable(name) for name in files[:_MOST]))
        for kind, files in found.items()
    )


def _counts(run: Inspection, blueprint: Blueprint, figures: Figures) -> dict[str, Any]:
    spec, whole, extras = blueprint.spec, not blueprint.unmodeled, run.options.extras
    stored, known = run.outcome.predicting, not blueprint.derived_with
    return {
        "family": spec.family,
        "architecture": printable(spec.architecture) or None,
        "dtype": printable(spec.dtype) if spec.dtype and not run.evidence.contained else None,
        "parameters": Parameters(
            total=blueprint.total if whole else None,
            active=blueprint.active if whole and known else None,
            active_without_embedding=blueprint.active_without_embedding if whole and known else None,
            stored=run.outcome.stored,
        ),
        "components": tuple(
            ComponentCount(name=component, total=measure.total, active=measure.active if known else None)
            for component, measure in blueprint.by_component.items()
        ),
        "auxiliary": {"mtp": blueprint.mtp if spec.announces("mtp") or stored else 0},
        "asides": dict(blueprint.reasons) or None,
        "tensors": _rows(run, blueprint) if "tensors" in extras else None,
        "formula": figures.formula,
        "layers": figures.layers,
        "storage": figures.storage,
        "memory": figures.memory,
        "compute": figures.compute,
        "serving": figures.serving,
        "derived_with": blueprint.derived_with or None,
    }


def _rows(run: Inspection, blueprint: Blueprint) -> tuple[TensorRow, ...]:
    """All tensors, but obsolete buffers only where they are stored; of a container as they are named there."""
    contained = run.evidence.contained
    if contained is not None and contained.rows is not None:
        return contained.rows
    packed = run.outcome.packed
    match = packed.match if packed else run.outcome.match
    there = {leaf.name for leaf, count in match.listed if count} if match else set()
    return tuple(_row(row) for row in blueprint.rows() if row.kind != "legacy" or row.name in there)


def _row(row: Row) -> TensorRow:
    name, shape = printable(row.name), tuple(map(int, row.shape))
    return TensorRow(
        name=name, count=row.count, shape=shape, component=row.component, kind=row.kind, elements=row.elements
    )


def waived(findings: Sequence[Finding], policy: Policy) -> tuple[Allowed, ...]:
    """What --allow let through of these findings."""
    counts = Counter(
        (one.code, one.name) for finding in findings if policy.waives(finding) for one in (finding, *finding.joined)
    )
    return tuple(Allowed(code=code, name=name, count=count) for (code, name), count in counts.items())


def reported(finding: Finding, policy: Policy, documents: Documents) -> ReportedFinding:
    """A finding as a report has it."""
    from hfcount.checkpoints.locations import place  # a sound checkpoint needs none

    return ReportedFinding(
        code=finding.code,
        name=finding.name,
        severity=policy.severity(finding),
        message=finding.message,
        tensors=finding.rows,
        count=finding.count,
        parameters=finding.parameters,
        bytes=finding.bytes,
        expected=_safe(finding.expected),
        observed=_safe(finding.observed),
        key=printable(finding.key) if finding.key else None,
        file=printable(finding.file) if finding.file else None,
        fix=finding.fix,
        parts=finding.parts[:100],
        also=tuple(one.code for one in finding.joined),
        variant=finding.variant,
        location=place(finding, documents),
        url=finding.url,
        part=finding.part,
    )


def _safe(value: Value) -> Value:
    """The value with foreign text escaped and shortened."""
    if isinstance(value, tuple):
        return tuple(printable(one) for one in value) if value and isinstance(value[0], str) else value
    return printable(value) if isinstance(value, str) else value


def verdict(findings: Sequence[Finding], policy: Policy, seen: bool, proven: bool) -> Verdict:
    """The verdict on what was found.

    Args:
        seen: whether all that is to be judged was compared; proven: whether the bytes were.
    """
    judged = [finding for finding in findings if not finding.of_serving]
    proofs = {finding.proof for finding in judged if not policy.waives(finding)}
    waived = any(map(policy.waives, judged))
    if any(policy.severity(finding) == "error" for finding in judged):
        return "mismatch"
    # An error that is let through may be why nothing proves the bytes; any other reason stands.
    if not seen or not {"lost", "doubted"}.isdisjoint(proofs) or not (proven or (waived and "weakened" not in proofs)):
        return "unverified"
    if waived:
        return "allowed"
    return "explained" if any(not finding.informational for finding in judged) else "verified"
