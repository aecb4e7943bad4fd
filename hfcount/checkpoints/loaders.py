"""Asks loaders what they make of an inspected checkpoint, and makes the verdict theirs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from hfcount.checkpoints.inspection import Inspection
from hfcount.errors import DocumentError
from hfcount.formats.json import parse_object
from hfcount.mapper.class_defaults import is_of_diffusers
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.catalogue import readings
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading
from hfcount.verifier.policy import Policy

_OF_OTHER_LIBRARIES = ("timm", "open_clip", "mistral")


def read(inspection: Inspection, findings: Sequence[Finding], agrees: bool | None) -> list[Reading]:
    """What each loader makes of an inspected checkpoint, the home loaders first.

    Args:
        findings: all of the inspection.
        agrees: whether the checkpoint is as its config says; None if that is not known.
    """
    if inspection.changes:
        return []
    evidence = inspection.evidence
    checkpoint = Checkpoint(
        form=_form(inspection),
        values=_values(inspection),
        findings=findings,
        agrees=agrees,
        blueprint=inspection.blueprint,
        index=evidence.fitting_index,
        shards=evidence.shards,
        announced=inspection.announced,
        companions=inspection.documents.companions,
        headers=evidence.contained.headers if evidence.contained else {},
        files=inspection.documents.sizes or (),
    )
    return readings(checkpoint)


def _form(inspection: Inspection) -> str:
    container, blueprint = inspection.evidence.container, inspection.blueprint
    if container in ("gguf", "adapter"):
        return container
    family = blueprint.spec.family if blueprint else ""
    if is_of_diffusers(family) or inspection.documents.layout.reader == "diffusers":
        return "diffusers"
    return family if family in _OF_OTHER_LIBRARIES else "model"


def _values(inspection: Inspection) -> Mapping[str, Any]:
    with suppress(DocumentError):
        return parse_object(inspection.documents.config, endless=True)
    return {}


def judged(read_by: Sequence[Reading], asked: Sequence[Loader]) -> list[Reading]:
    """The readings that the verdict is of: those of the loaders asked for, or else of the home loaders."""
    return [reading for reading in read_by if (reading.loader in asked if asked else reading.home)]


def refusals(judges: Sequence[Reading], findings: Sequence[Finding], asked: bool) -> list[Finding]:
    """HF114, of each judge that does not take the checkpoint whole, where no error of its own says so."""
    errors = {finding.code for finding in findings if finding.severity == "error"}
    against = [
        reading
        for reading in judges
        if reading.outcome not in ("whole", *(() if asked else ("unknown",)))
        and (asked or reading.evidence != "none")
        and errors.isdisjoint(reading.findings)
    ]
    if not against:
        return []
    from hfcount.verifier.rules.hf114_not_loaded_whole import NotLoadedWhole

    return [
        NotLoadedWhole(
            observed=reading.loader.label,
            severity="note" if reading.outcome == "unknown" else "error",
            statement=f"{reading.loader} {printable(reading.says, None)}.",
        )
        for reading in against
    ]


def policy_for(policy: Policy, judges: Sequence[Reading], findings: Sequence[Finding]) -> Policy:
    """A policy by which those findings are errors that hold for the judges, and no others."""
    holding = frozenset(code for reading in judges for code in reading.findings if reading.outcome != "whole")
    errors = frozenset(finding.code for finding in findings if finding.severity == "error" and not finding.of_serving)
    return policy._replace(holding=holding, elsewhere=errors - holding - {"HF114"})
