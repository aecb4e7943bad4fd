"""Computes the numbers of the report: parameter counts, formulas, memory and compute."""

from collections.abc import Sequence
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.inspection import Inspection
from hfcount.report.figures import ClosedForm, ComponentCount, LayerKind, Parameters, Storage, TensorRow
from hfcount.report.serving import Compute, Memory, Serving
from hfcount.serving.memory import serve
from hfcount.text import printable
from hfcount.verifier.finding import Finding


class Figures(NamedTuple):
    """Fields of a report; empty if they are unknown or were not asked for."""

    auxiliary: dict[str, int]
    family: str | None = None
    architecture: str | None = None
    dtype: str | None = None
    parameters: Parameters | None = None
    components: tuple[ComponentCount, ...] = ()
    asides: dict[str, str] | None = None
    tensors: tuple[TensorRow, ...] | None = None
    formula: ClosedForm | None = None
    layers: tuple[LayerKind, ...] | None = None
    storage: Storage | None = None
    memory: Memory | None = None
    compute: Compute | None = None
    serving: Serving | None = None
    derived_with: str | None = None
    recorded_from: str | None = None


def _parameters(blueprint: Blueprint, stored: int | None) -> Parameters:
    """The counts of elements; None where parts are not described, or which are active is not known."""
    complete, known = not blueprint.unmodeled, not blueprint.derived_with
    return Parameters(
        total=blueprint.total if complete else None,
        active=blueprint.active if complete and known else None,
        active_without_embedding=blueprint.active_without_embedding if complete and known else None,
        stored=stored,
    )


def figures_of(inspection: Inspection) -> tuple[Figures, Sequence[Finding]]:
    """The figures, and all findings, those about serving among them."""
    blueprint, evidence, outcome = inspection.blueprint, inspection.evidence, inspection.outcome
    if blueprint is None:
        return _of_container(inspection), outcome.findings
    options, spec, known = inspection.options, blueprint.spec, not blueprint.derived_with
    extras = options.extras
    served = serve(
        blueprint,
        options.load,
        inspection.announced,
        outcome,
        options.policy,
        limit=inspection.limit,
        held=evidence.contained.bytes if evidence.contained else None,
        total_size=evidence.index.total_size if evidence.index else None,
        engines=_is_for_engines(inspection),
        asked=[loader.library for loader in options.loaders],
    )
    findings = outcome.findings
    if options.load.asked:
        findings = sorted([*findings, *served.refusals], key=lambda finding: finding.severity != "error")
    formula, layers = _formulas(blueprint, "formula" in extras, "layers" in extras)
    figures = Figures(
        family=spec.family,
        architecture=printable(spec.architecture) or None,
        dtype=printable(spec.dtype) if spec.dtype and not evidence.contained else None,
        parameters=_parameters(blueprint, outcome.stored),
        components=tuple(
            ComponentCount(name=component, total=measure.total, active=measure.active if known else None)
            for component, measure in blueprint.by_component.items()
        ),
        auxiliary={"mtp": blueprint.mtp if spec.announces("mtp") or outcome.predicting else 0},
        asides=dict(blueprint.reasons) or None,
        tensors=_rows(inspection, blueprint) if "tensors" in extras else None,
        formula=formula,
        layers=layers,
        storage=served.storage,
        memory=served.memory,
        compute=served.compute,
        serving=served.serving,
        derived_with=None if blueprint.recorded_from else blueprint.derived_with or None,
        recorded_from=blueprint.recorded_from or None,
    )
    return figures, findings


def _is_for_engines(inspection: Inspection) -> bool:
    """Whether the engines whose share of a device is known serve it: they serve neither GGUF nor what MLX packs."""
    packed = any(announced.method == "mlx" for announced in inspection.announced)
    return inspection.evidence.container != "gguf" and not packed


def _formulas(
    blueprint: Blueprint, formula: bool, layers: bool
) -> tuple[ClosedForm | None, tuple[LayerKind, ...] | None]:
    """The closed form and the kinds of layers, where these are asked for and families give them."""
    if blueprint.derived_with or not (formula or layers):
        return None, None
    from hfcount.checkpoints.formulas import closed_form, layer_kinds  # most runs do not need it

    counts = blueprint.formula()
    return closed_form(counts) if formula else None, layer_kinds(counts) if layers else None


def _of_container(inspection: Inspection) -> Figures:
    """The figures of a container for which no blueprint is known."""
    contained, adapter = inspection.evidence.contained, inspection.evidence.adapter
    if contained is None or not contained.bytes:
        return Figures({})
    total, load = adapter.parameters if adapter else contained.total, inspection.options.load
    stored, size, serving = inspection.outcome.stored, sum(contained.bytes.values()), None
    if load.asked and contained.unserved:
        from hfcount.serving.answers import unanswered

        serving = unanswered(load, contained.unserved)
    return Figures(
        {},
        parameters=Parameters(total=total, active=None, active_without_embedding=None, stored=stored),
        memory=Memory(weights_bytes=size, weights=dict(contained.bytes), available_bytes=load.memory),
        tensors=contained.rows,
        serving=serving,
    )


def _rows(inspection: Inspection, blueprint: Blueprint) -> tuple[TensorRow, ...]:
    """All tensors, but obsolete buffers only where they are stored; of a container as they are named there."""
    contained, packed = inspection.evidence.contained, inspection.outcome.packed
    if contained is not None and contained.rows is not None:
        return contained.rows
    match = packed.match if packed else inspection.outcome.match
    stored = {leaf.name for leaf, count in match.listed if count} if match else set()
    return tuple(
        TensorRow(
            name=printable(row.name),
            count=row.count,
            shape=tuple(map(int, row.shape)),
            component=row.component,
            kind=row.kind,
            elements=row.elements,
        )
        for row in blueprint.rows()
        if row.kind != "legacy" or row.name in stored
    )
