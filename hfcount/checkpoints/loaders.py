"""Asks loaders what they make of an inspected checkpoint, and makes the verdict theirs."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from hfcount.checkpoints.inspection import Inspection
from hfcount.errors import DocumentError
from hfcount.fetcher.layout import MISTRAL_LAYOUT, OPEN_CLIP_LAYOUT
from hfcount.formats.json import parse_object
from hfcount.mapper.class_defaults import is_of_diffusers
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.catalogue import readings
from hfcount.verifier.loaders.loader import Checkpoint, Loader, Reading
from hfcount.verifier.policy import Policy


def read(inspection: Inspection, findings: Sequence[Finding], agrees: bool | None) -> list[Reading]:
    """What each loader makes of an inspected checkpoint, the home loaders first.

    Args:
        findings: all of the inspection.
        agrees: whether the checkpoint is as its config says; None if that is not known.
    """
    if inspection.changes:
        return []
    return readings(checkpoint_of(inspection, findings, agrees), inspection.options.loaders)


def checkpoint_of(inspection: Inspection, findings: Sequence[Finding], agrees: bool | None) -> Checkpoint:
    """An inspected checkpoint as loaders look at it; the arguments are those of `read`."""
    evidence = inspection.evidence
    return Checkpoint(
        form=_form(inspection),
        values=_values(inspection),
        findings=findings,
        agrees=agrees,
        blueprint=inspection.blueprint,
        index=evidence.fitting_index,
        shards=evidence.headers if evidence.container == "adapter" else evidence.shards,
        announced=inspection.announced,
        companions=inspection.documents.companions,
        files=_files(inspection),
        named=(inspection.documents.place and inspection.documents.place.file) or "",
        beside=partial(_beside, inspection),
        headers=evidence.contained.headers if evidence.contained else {},
    )


def _files(inspection: Inspection) -> Collection[str]:
    documents, weights = inspection.documents, inspection.evidence.weights
    if documents.sizes is not None:
        return documents.sizes.keys()
    return weights.files if weights and weights.listed else ()


def _beside(inspection: Inspection, file: str) -> Collection[str] | None:
    """The names in a weight file beside the model; None if it was not read."""
    shard = (inspection.evidence.headers or {}).get(file)
    return shard.header.tensors.keys() if shard and shard.header else None


def _form(inspection: Inspection) -> str:
    container, blueprint = inspection.evidence.container, inspection.blueprint
    if container in ("gguf", "adapter"):
        return inspection.evidence.form if container == "adapter" else container
    family, layout = blueprint.spec.family if blueprint else "", inspection.documents.layout
    if is_of_diffusers(family) or layout.reader == "diffusers":
        return "diffusers"
    if layout in (MISTRAL_LAYOUT, OPEN_CLIP_LAYOUT):
        return "mistral" if layout is MISTRAL_LAYOUT else "open_clip"
    return family if family in ("timm", "open_clip") else "model"


def _values(inspection: Inspection) -> Mapping[str, Any]:
    with suppress(DocumentError):
        return parse_object(inspection.documents.config, endless=True)
    return {}


def judged(read_by: Sequence[Reading], asked: Sequence[Loader]) -> list[Reading]:
    """The readings that the verdict is of: those of the loaders asked for, or else of the home loaders."""
    return [reading for reading in read_by if (reading.loader in asked if asked else reading.home)]


def refusals(judges: Sequence[Reading], findings: Sequence[Finding], asked: bool) -> list[Finding]:
    """HF114, of each judge that does not take the checkpoint whole, where no error of its own says so."""
    codes = {finding.code for finding in findings}  # those that hold for the loaders asked for become errors
    against = [
        reading
        for reading in judges
        if reading.outcome not in ("whole", *(() if asked else ("unknown",)))
        and (asked or reading.evidence != "none")
        and codes.isdisjoint(reading.findings)
    ]
    if not against:
        return []
    from hfcount.verifier.rules.hf114_not_loaded_whole import NotLoadedWhole

    return [
        NotLoadedWhole(
            observed=reading.loader.label,
            severity="note" if reading.outcome == "unknown" else "error",
            statement=f"{reading.loader} {printable(reading.says, None)}{_place(reading)}.",
        )
        for reading in against
    ]


def _place(reading: Reading) -> str:
    """The line of a loader's source that says so, in brackets; empty if it was not read."""
    return f" ({reading.source})" if reading.evidence == "read" and ":" in reading.source else ""


def naming(findings: Sequence[Finding], read_by: Sequence[Reading]) -> list[Finding]:
    """The findings; HF113 says, too, which loaders of other libraries take other rotary settings, or refuse them."""
    others = "".join(
        f" {reading.loader} {printable(reading.says, None)}."
        for reading in read_by
        if "HF113" in reading.findings and reading.outcome in ("differs", "refuses")
    )
    if not others:
        return list(findings)
    from hfcount.verifier.rules.hf113_rotary_settings_moved import RotarySettingsMoved

    named = list(findings)
    at, moved = [pair for pair in enumerate(findings) if isinstance(pair[1], RotarySettingsMoved)][-1]
    named[at] = moved.replace(statement=f"{moved.text}{others}")
    return named


def policy_for(policy: Policy, judges: Sequence[Reading], findings: Sequence[Finding]) -> Policy:
    """A policy by which those findings are errors that hold for the judges, and no others."""
    holding = frozenset(code for reading in judges for code in reading.findings if reading.outcome != "whole")
    errors = frozenset(finding.code for finding in findings if finding.severity == "error" and not finding.of_serving)
    return policy._replace(holding=holding, elsewhere=errors - holding - {"HF114"})
