"""Makes the report of what was read and found."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hfcount.fetcher.interface import Documents
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.plan import Blueprint
from hfcount.report.costs import costs
from hfcount.report.model import (
    ClosedForm,
    ComponentCount,
    Depth,
    Evidence,
    Extra,
    Failure,
    FormulaPart,
    LayerKind,
    Parameters,
    Report,
    ReportedCheck,
    ReportedFinding,
    TensorRow,
    Verdict,
)
from hfcount.report.serving import Workload
from hfcount.text import printable
from hfcount.tree.dims import Polynomial, evaluate
from hfcount.verifier.findings import Finding, Outcome
from hfcount.verifier.rules import Policy

if TYPE_CHECKING:
    from hfcount.formula.closed_form import Formula


def compose(
    documents: Documents,
    blueprint: Blueprint | None,
    index: Index | None,
    shards: Mapping[str, Shard] | None,
    outcome: Outcome,
    depth: Depth,
    why: str | None,
    policy: Policy,
    unseen: Failure | None,
    extras: Collection[Extra],
    load: Workload,
    quant_method: str | None,
) -> Report:
    """The report of one checkpoint.

    Args:
        why: why headers were read; unseen: what could not be looked at; extras: what else is wanted.
        load: what is asked of the model when it is served; quant_method: the scheme its weights are quantised with.
    """
    findings = tuple(_finding(finding, policy) for finding in outcome.findings)
    report = Report(
        model=printable(documents.model),
        revision=documents.revision,
        source=documents.source,
        depth=depth,
        depth_reason=why,
        verdict=_verdict(
            findings, blueprint is not None and outcome.proven and unseen is None and not blueprint.asides
        ),
        checks=tuple(
            ReportedCheck(
                name=check.name, expected=check.expected, observed=check.observed, agrees=check.agrees, text=check.text
            )
            for check in outcome.checks
        ),
        findings=findings,
        error=unseen,
        evidence=_evidence(documents, index, shards, outcome),
    )
    return (
        report
        if blueprint is None
        else report.model_copy(
            update=_counts(blueprint, outcome, extras) | _costs(blueprint, report, load, quant_method)
        )
    )


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


def _counts(blueprint: Blueprint, outcome: Outcome, extras: Collection[Extra]) -> dict[str, Any]:
    spec, whole = blueprint.spec, not blueprint.asides
    stored = any(finding.rule.code == "HF208" for finding in outcome.findings)
    return {
        "family": spec.family,
        "architecture": printable(spec.architecture) or None,
        "dtype": printable(spec.dtype) if spec.dtype else None,
        "parameters": Parameters(
            total=blueprint.total if whole else None,
            active=blueprint.active if whole else None,
            active_without_embedding=blueprint.active_without_embedding if whole else None,
            stored=outcome.stored,
        ),
        "components": tuple(
            ComponentCount(name=component, total=measure.total, active=measure.active)
            for component, measure in blueprint.by_component.items()
        ),
        "auxiliary": {"mtp": blueprint.mtp if spec.mtp_announced or stored else 0},
        "asides": dict(blueprint.reasons) or None,
        "tensors": tuple(
            TensorRow(
                name=printable(row.name),
                count=row.count,
                shape=tuple(map(int, row.shape)),
                component=row.component,
                kind=row.kind,
                elements=row.elements,
            )
            for row in blueprint.rows()
        )
        if "tensors" in extras
        else None,
        **_formulas(blueprint, extras),
    }


def _formulas(blueprint: Blueprint, extras: Collection[Extra]) -> dict[str, Any]:
    if not {"formula", "layers"} & set(extras):
        return {}
    formula = blueprint.formula()
    return {
        "formula": _closed_form(formula) if "formula" in extras else None,
        "layers": tuple(
            LayerKind(
                name=kind.name,
                numbers=kind.numbers,
                count=kind.layers,
                components=tuple(
                    ComponentCount(
                        name=component,
                        total=kind.layers * evaluate(terms),
                        active=kind.layers * evaluate(kind.active.get(component, {})),
                    )
                    for component, terms in kind.parts.items()
                ),
            )
            for kind in formula.kinds
        )
        if "layers" in extras
        else None,
    }


def _closed_form(formula: "Formula") -> ClosedForm:
    def parts(polynomials: Iterable[tuple[str, Polynomial]], whole: bool = True) -> tuple[FormulaPart, ...]:
        text = formula.text if whole else formula.plain
        return tuple(
            FormulaPart(
                component=name,
                symbols=text(terms),
                numbers=formula.numbers(terms, whole),
                value=evaluate(terms),
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


def _costs(blueprint: Blueprint, report: Report, load: Workload, quant_method: str | None) -> dict[str, Any]:
    memory, compute = costs(blueprint, report.evidence, load, quant_method)
    return {"memory": memory, "compute": compute}


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
