"""Builds the report of an inspection."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hfcount.errors import Value
from hfcount.fetcher.beside import beside
from hfcount.fetcher.weights import Weights
from hfcount.plan import Blueprint, Row
from hfcount.report.costs import costs
from hfcount.report.counts import ClosedForm, ComponentCount, FormulaPart, LayerKind, Parameters, TensorRow
from hfcount.report.inspection import Inspection
from hfcount.report.model import (
    Allowed,
    Beside,
    Evidence,
    Extra,
    Files,
    Report,
    ReportedCheck,
    ReportedFinding,
    Verdict,
)
from hfcount.text import printable
from hfcount.tree.polynomials import Polynomial, evaluate
from hfcount.verifier.finding import Finding, Proof
from hfcount.verifier.policy import Policy

if TYPE_CHECKING:
    from hfcount.formula.closed_form import Formula, Kind


_MOST = 100  # files of a kind that are named


def compose(run: Inspection) -> Report:
    """The report of one checkpoint."""
    blueprint, outcome, policy = run.blueprint, run.outcome, run.options.policy
    if blueprint and outcome.apart:  # it is counted as it is loaded
        blueprint = replace(blueprint, apart=outcome.apart)
    findings = tuple(_finding(finding, policy) for finding in outcome.findings)
    proofs = {finding.proof for finding in outcome.findings if not policy.waives(finding)}
    waived = Counter(
        (one.code, one.name)
        for finding in outcome.findings
        if policy.waives(finding)
        for one in (finding, *finding.joined)
    )
    evidence = _evidence(run)
    seen = blueprint is not None and run.unseen is None and not blueprint.asides and run.depth != "config"
    return Report(
        model=printable(run.documents.model),
        revision=run.documents.revision,
        source=run.documents.source,
        depth=run.depth,
        depth_reason=run.depth_reason,
        verdict=_verdict(findings, proofs, seen, outcome.proven, bool(waived)),
        checks=tuple(
            ReportedCheck(
                name=check.name, expected=check.expected, observed=check.observed, agrees=check.agrees, text=check.text
            )
            for check in outcome.checks
        ),
        findings=findings,
        allowed=tuple(Allowed(code=code, name=name, count=count) for (code, name), count in waived.items()),
        error=run.unseen,
        evidence=evidence,
        not_looked_at=_beside(run),
        overrides=dict(run.changes) or None,
        **(_counts(run, blueprint) | _costs(run, blueprint, evidence) if blueprint else {}),
    )


def _evidence(run: Inspection) -> Evidence | None:
    index, shards = run.index, run.shards
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
        files=_files(run, run.weights) if run.weights else None,
    )


def _files(run: Inspection, weights: Weights) -> Files:
    known = weights.sizes is not None and (weights.whole or len(weights.sizes) >= len(weights.named))
    return Files(
        named=len(weights.named),
        found=sum(name in (weights.sizes or ()) for name in weights.named) if known else None,
        sized=run.outcome.sized,
        opened=len(run.headers or ()),
        apart={printable(name): why for name, why in sorted(weights.apart.items())},
    )


def _beside(run: Inspection) -> tuple[Beside, ...]:
    """What lies beside the model and was not looked at; of a config that was only counted nothing is said."""
    if run.weights is None:
        return ()
    seen = {*(run.headers or ()), *(run.weights.named if run.index else ())}
    names = {*run.weights.files, *(run.weights.sizes or ()), *run.weights.apart}
    found = beside(names, seen, run.documents.companions)
    return tuple(
        Beside(kind=kind, count=len(files), files=tuple(printable(name) for name in files[:_MOST]))
        for kind, files in found.items()
    )


def _counts(run: Inspection, blueprint: Blueprint) -> dict[str, Any]:
    spec, whole, extras = blueprint.spec, not blueprint.asides, run.options.extras
    stored, known = run.outcome.predicting, not blueprint.derived_with
    return {
        "family": spec.family,
        "architecture": printable(spec.architecture) or None,
        "dtype": printable(spec.dtype) if spec.dtype else None,
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
        "tensors": tuple(_rows(run, blueprint)) if "tensors" in extras else None,
        **(formulas(blueprint, extras) if known else {}),
        "derived_with": blueprint.derived_with or None,
    }


def _rows(run: Inspection, blueprint: Blueprint) -> Iterator[TensorRow]:
    """All tensors, but obsolete buffers only where they are stored."""
    packed = run.outcome.packed
    match = packed.match if packed else run.outcome.match
    there = {leaf.name for leaf, count in match.listed if count} if match else set()
    return (_row(row) for row in blueprint.rows() if row.kind != "legacy" or row.name in there)


def _row(row: Row) -> TensorRow:
    name, shape = printable(row.name), tuple(map(int, row.shape))
    return TensorRow(
        name=name, count=row.count, shape=shape, component=row.component, kind=row.kind, elements=row.elements
    )


def formulas(blueprint: Blueprint, extras: Collection[Extra]) -> dict[str, Any]:
    """The fields `formula` and `layers` of a report, as far as `extras` ask for them."""
    if not {"formula", "layers"} & set(extras):
        return {}
    formula = blueprint.formula()
    return {
        "formula": _closed_form(formula) if "formula" in extras else None,
        "layers": tuple(map(_layers, formula.kinds)) if "layers" in extras else None,
    }


def _layers(kind: "Kind") -> LayerKind:
    """The layers of one kind, with sums over all of them."""
    components = tuple(
        ComponentCount(
            name=name,
            total=kind.layers * evaluate(terms),
            active=kind.layers * evaluate(kind.active.get(name, {})),
        )
        for name, terms in kind.parts.items()
    )
    return LayerKind(name=kind.name, numbers=kind.numbers, count=kind.layers, components=components)


def _closed_form(formula: "Formula") -> ClosedForm:
    def parts(polynomials: Iterable[tuple[str, Polynomial]], whole: bool = True) -> tuple[FormulaPart, ...]:
        text = formula.text if whole else formula.plain
        return tuple(
            FormulaPart(
                component=name, symbols=text(terms), numbers=formula.numbers(terms, whole), value=evaluate(terms)
            )
            for name, terms in polynomials
        )

    fewer = {
        component: terms
        for component, terms in formula.active_components.items()
        if terms != formula.components[component]
    }
    return ClosedForm(
        parts=parts([*formula.components.items(), ("total", formula.total)]),
        legend=formula.legend,
        active=parts([*fewer.items(), ("total", formula.active)]) if fewer else (),
        layers=parts([(f"{kind.name}, {kind.where}", kind.terms) for kind in formula.kinds], whole=False),
        active_layers=parts(
            [
                (f"{kind.name}, {kind.where}", kind.active_terms)
                for kind in formula.kinds
                if kind.active_terms != kind.terms
            ],
            whole=False,
        ),
        keys={name: printable(key) for name, key in formula.keys.items()},
    )


def _costs(run: Inspection, blueprint: Blueprint, evidence: Evidence | None) -> dict[str, Any]:
    stored = None
    if run.announced:
        from hfcount.report.storage import storage  # most checkpoints are not quantised

        stored = storage(run, blueprint)
    memory, compute = costs(blueprint, evidence, run.options.load, run.announced, stored)
    return {"storage": stored, "memory": memory, "compute": compute}


def _finding(finding: Finding, policy: Policy) -> ReportedFinding:
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
    )


def _safe(value: Value) -> Value:
    """The value with foreign text escaped and shortened."""
    if isinstance(value, tuple):
        return tuple(printable(one) for one in value) if value and isinstance(value[0], str) else value
    return printable(value) if isinstance(value, str) else value


def _verdict(
    findings: Sequence[ReportedFinding], proofs: Collection[Proof], seen: bool, proven: bool, waived: bool
) -> Verdict:
    if any(finding.severity == "error" for finding in findings):
        return "mismatch"
    # An error that is let through may be why nothing proves the bytes; any other reason stands.
    if not seen or not {"lost", "doubted"}.isdisjoint(proofs) or not (proven or (waived and "weakened" not in proofs)):
        return "unverified"
    if waived:
        return "allowed"
    return "explained" if any(not finding.rule.informational for finding in findings) else "verified"
