"""GGUF files as a checkpoint: each against its own metadata, its set, the model beside it and its base."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hfcount.containers.bases import Base, base_of
from hfcount.containers.gguf import Remark, Role, architecture, bases, role, summary
from hfcount.containers.gguf_base import compare
from hfcount.containers.gguf_check import check
from hfcount.containers.gguf_config import blueprint_of
from hfcount.containers.gguf_files import FileSet, Read, file_sets, headers
from hfcount.containers.gguf_findings import broken, finding, reason
from hfcount.containers.gguf_set import check_pair, join
from hfcount.errors import DocumentError
from hfcount.fetcher.folder import FolderShards
from hfcount.fetcher.interface import Documents, Request
from hfcount.fetcher.place import Place
from hfcount.figures import Failure, WeightsFile
from hfcount.formats.gguf import Header
from hfcount.formats.json import Document
from hfcount.inspection import Contained, Evidence, Inspection, Options
from hfcount.plan import Blueprint
from hfcount.serving.cost import Workload
from hfcount.serving.memory import costs
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Check, Outcome
from hfcount.verifier.rules.hf716_base_not_compared import BaseNotCompared

_APART: Mapping[Role, str] = {
    "imatrix": "it holds an importance matrix, and no model",
    "vocabulary": "it holds a vocabulary, and no tensors",
    "adapter": "it is an adapter, and its base has to be converted to be compared with it",
}
"""Why files that are no models are not verified."""


@dataclass(slots=True)
class Looked:
    """One file or set, as it was looked at.

    Args:
        header: that of all files joined; None if none could be read.
        size: bytes of all files; None if unknown.
        reasons: why something about it cannot be told.
    """

    files: FileSet
    header: Header | None = None
    size: int | None = None
    findings: list[Finding] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, remarks: Sequence[Remark]) -> None:
        """Takes remarks as findings or reasons."""
        subject = architecture(self.header) if self.header else ""
        for remark in remarks:
            found = finding(remark, self.files.name, subject)
            if found is not None:
                self.findings.append(found)
            else:
                self.reasons.append(f"{printable(self.files.name)}: {reason(remark)}")

    @property
    def role(self) -> Role | None:
        """What it holds; None if nothing could be read."""
        return role(self.header) if self.header else None

    @property
    def sound(self) -> bool:
        """Whether it holds what its metadata describes, as far as that is known."""
        return (
            self.header is not None and not self.reasons and not any(one.severity == "error" for one in self.findings)
        )


def inspect(place: Place, request: Request, options: Options) -> Inspection:
    """What was found in the GGUF files of a place; of those that were asked for."""
    sets = file_sets(place)
    read = headers(place, sets, options.progress(sum(len(one.files) for one in sets)))
    looked = [examined(one, read, place) for one in sets]
    models = [one for one in looked if one.role == "model" and one.header]
    _pair(looked)
    first = max(
        models,
        key=lambda one: (one.sound, one.size or 0),
        default=next((one for one in looked if one.header), looked[0]),
    )
    base = base_of(place, request, bases(first.header) if first.header else ()) if models else None
    if base is not None:
        _against(base, models)
    outcome = _outcome(looked, first, base)
    blueprint = blueprint_of(first.header, base) if first.header and first.role == "model" else None
    return Inspection(
        documents=_documents(place),
        options=options,
        changes={},
        blueprint=blueprint,
        announced=(),
        evidence=_evidence(looked, first, base, len(read), _variants(looked, blueprint, options.load)),
        outcome=outcome,
    )


def examined(one: FileSet, read: Mapping[str, Read], place: Place) -> Looked:
    """One file or set by itself."""
    sizes = [place.sizes[name] for name in one.files]
    size = None if None in sizes else sum(size or 0 for size in sizes)
    looked = Looked(one, size=size)
    parts = {name: header for name in one.files if isinstance(header := read[name], Header)}
    looked.findings += [broken(error, name) for name in one.files if isinstance(error := read[name], DocumentError)]
    if len(one.files) == 1 and not one.lost:
        looked.header = next(iter(parts.values()), None)
        looked.add(check(looked.header, size) if looked.header else ())
    elif parts:
        looked.header, remarks = join(parts)
        looked.add([remark._replace(facts={**remark.facts, "lost": _lost(remark, one)}) for remark in remarks])
        if len(parts) == len(one.files) and not one.lost:
            looked.add(check(looked.header))
    if looked.role and looked.role in _APART:
        looked.reasons.append(f"{printable(one.name)}: {_APART[looked.role]}")
    return looked


def _lost(remark: Remark, one: FileSet) -> tuple[str, ...]:
    return one.lost if remark.facts["what"] == "parts" else ()


def _pair(looked: Sequence[Looked]) -> None:
    """Holds projectors against the models beside them, of which one has to fit."""
    models = [one for one in looked if one.role == "model"]
    for projector in looked:
        if projector.role != "projector" or not models:
            continue
        remarks = [
            [
                remark._replace(facts={**remark.facts, "model": model.files.name})
                for remark in check_pair(model.header, projector.header)
            ]
            for model in models
            if model.header and projector.header
        ]
        if remarks and all(remarks):
            projector.add(remarks[0])


def _against(base: Base, models: Sequence[Looked]) -> None:
    """Holds models against the base; where that cannot be read, the first of them says so."""
    if base.problem and not base.binding:
        file = models[0].files.name
        models[0].findings.append(BaseNotCompared(file=file, base=base.label, reason=base.problem.message))
    for model in models:
        if model.header and base.blueprint:
            remarks = compare(model.header, base.blueprint, base.binding)
            known = {remark.kind for remark in check(model.header)}
            model.add(
                [
                    remark._replace(facts={**remark.facts, "base": base.label})
                    for remark in remarks
                    if remark.severity != "unverified" or remark.kind not in known
                ]
            )


def _outcome(looked: Sequence[Looked], first: Looked, base: Base | None) -> Outcome:
    outcome = Outcome()
    for one in looked:
        for found in one.findings:
            outcome.report(found)
    outcome.findings.sort(key=lambda found: found.severity != "error")
    if first.header:
        held = summary(first.header)
        outcome.stored = held.elements
        outcome.dtypes = {kind: elements for kind, (_, elements, _) in held.types.items()}
        if first.size is not None and len(first.files.files) == 1:
            end = min(first.size, first.header.end + -first.header.end % first.header.alignment)
            outcome.checks.append(Check("file_size", end, first.size, "header and tensors by their types"))
        outcome.checks += _agreeing(first, len(first.header.tensors), base)
    outcome.proven = all(one.sound for one in looked)
    return outcome


def _agreeing(first: Looked, count: int, base: Base | None) -> Iterator[Check]:
    """What the tensors agree with; what they do not agree with is a finding."""
    if first.sound:
        yield Check("metadata", count, count, "by its own metadata")
        if base and base.blueprint and not any(found.code == "HF713" for found in first.findings):
            yield Check("base", count, count, f"by {base.label}")


def _evidence(
    looked: Sequence[Looked],
    first: Looked,
    base: Base | None,
    opened: int,
    variants: tuple[WeightsFile, ...],
) -> Evidence:
    unseen = None
    reasons = [reason for one in looked for reason in one.reasons]
    if reasons:
        unseen = Failure(kind="NotCompared", message="; ".join(reasons[:3]))
    elif base and base.binding and base.problem:
        unseen = Failure(kind=base.problem.kind, message=f"its base cannot be compared: {base.problem.message}")
    held = summary(first.header) if first.header else None
    contained = Contained(
        container="gguf",
        files=sum(len(one.files.files) + len(one.files.lost) for one in looked),
        opened=opened,
        tensors=len(first.header.tensors) if first.header else 0,
        bytes={kind: size for kind, (_, _, size) in held.types.items()} if held else {},
        variants=variants,
    )
    return Evidence(depth="headers", unseen=unseen, contained=contained)


def _variants(looked: Sequence[Looked], blueprint: Blueprint | None, load: Workload) -> tuple[WeightsFile, ...]:
    """A row for each file or set, where there are several; the largest first."""
    if len(looked) == 1:
        return ()
    ordered = sorted(looked, key=lambda one: (one.role != "model", not one.sound, -(one.size or 0), one.files.name))
    return tuple(_variant(one, blueprint if one.role == "model" else None, load) for one in ordered)


def _variant(one: Looked, blueprint: Blueprint | None, load: Workload) -> WeightsFile:
    held = summary(one.header) if one.header else None
    sizes = {kind: size for kind, (_, _, size) in held.types.items()} if held else {}
    memory = costs(blueprint, load, held=sizes)[0] if blueprint and sizes else None
    wrong = any(found.severity == "error" for found in one.findings)
    return WeightsFile(
        file=printable(one.files.name),
        files=len(one.files.files),
        role=one.role or "unknown",
        parameters=held.elements if held else None,
        bytes=sizes,
        bits_per_weight=round(held.bits, 2) if held else None,
        verdict="mismatch" if wrong else "verified" if one.sound else "unverified",
        fits=memory.fits if memory else None,
        largest_context=memory.largest_context if memory else None,
    )


def _documents(place: Place) -> Documents:
    return Documents(
        place.label,
        place.source,
        place.revision,
        Document(place.label, b"{}"),
        None,
        FolderShards(Path(), ()),
        list(place.sizes),
    )
