"""Inspects GGUF files: findings, figures, and a row for each file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.forms import Besides
from hfcount.checkpoints.gguf.examine import GgufFile, GgufFiles, look
from hfcount.checkpoints.gguf.summary import role, summary
from hfcount.checkpoints.inspection import Contained, Evidence, Inspection, Options
from hfcount.checkpoints.stored_rows import stored_rows
from hfcount.fetcher.folder import FolderShards
from hfcount.fetcher.interface import Documents, Request
from hfcount.fetcher.location import Place
from hfcount.formats.gguf.header import GgufHeader
from hfcount.formats.json import Document
from hfcount.mapper.context_length import Length
from hfcount.report.figures import Failure, TensorRow, WeightsFile
from hfcount.serving.cost import Workload
from hfcount.serving.memory import costs
from hfcount.text import printable
from hfcount.verifier.findings import Check, Outcome

_SIZES = {
    "block_count": "how many layers there are (block_count)",
    "embedding_length": "how wide they are (embedding_length)",
    "context_length": "how long a context may be (context_length)",
}
"""What llama.cpp asks of the metadata of every model."""


def inspect(place: Place, request: Request, options: Options) -> Inspection:
    """Reads and checks the requested GGUF files of a place.

    Raises:
        FetchError: NoSuchFile, or they could not be read.
    """
    return inspected(place, look(place, request, options), options)


def inspected(place: Place, files: GgufFiles, options: Options) -> Inspection:
    """The inspection of files that were checked."""
    rows = _rows(files, options.load) if len(files.looked) > 1 else ()
    files = _fitting(files, rows)
    return Inspection(
        documents=_documents(place),
        options=options,
        changes={},
        blueprint=files.blueprint,
        announced=(),
        evidence=_evidence(files, rows, () if place.file else _files(files), "tensors" in options.extras),
        outcome=_outcome(files),
        limit=_limit(files.first),
    )


def _limit(first: GgufFile) -> Length | None:
    """The tokens of a sequence that the metadata allows."""
    key = f"{first.header.text('general.architecture')}.context_length" if first.header else ""
    tokens = first.header.number(key) if first.header else None
    return Length(tokens, printable(key)) if tokens is not None and tokens > 0 else None


def _fitting(files: GgufFiles, rows: tuple[WeightsFile, ...]) -> GgufFiles:
    """The same with the largest file that fits as the first, where it was asked what does and the largest does not."""
    fit = {row.file for row in rows if row.fits and row.verdict == "verified"}
    fitting = [file for file in files.looked if printable(file.files.name) in fit]
    return replace(files, first=max(fitting, key=lambda file: file.size or 0)) if fitting else files


def beside(place: Place, request: Request, model: Inspection) -> Besides:
    """Checks GGUF files next to safetensors, with a row for each.

    Findings are notes: who loads the safetensors does not read them. Raises as `inspect` does.
    """
    options = model.options
    files = look(place, request, options)
    findings = [finding.replace(severity="note") for file in files.looked for finding in file.findings]
    return Besides(findings, _rows(files, options.load), _files(files))


def _outcome(files: GgufFiles) -> Outcome:
    outcome, first = Outcome(), files.first
    for file in files.looked:
        for finding in file.findings:
            outcome.report(finding)
    outcome.errors_first()
    if first.header:
        held = summary(first.header)
        outcome.stored = held.elements
        outcome.dtypes = {kind: elements for kind, (_, elements, _) in held.types.items()}
        outcome.checks += _checks(files)
    outcome.proven = all(file.sound for file in files.looked)
    return outcome


def _checks(files: GgufFiles) -> Iterator[Check]:
    """The size of the first file, and what its tensors agree with; what they do not agree with is a finding."""
    first, base = files.first, files.base
    if first.header and first.size is not None and len(first.files.files) == 1:
        end = min(first.size, first.header.end + -first.header.end % first.header.alignment)
        yield Check("file_size", end, first.size, "header and tensors by their types")
    if first.header and first.sound:
        count = len(first.header.tensors)
        yield Check("metadata", count, count, f"by its own metadata{_unsaid(first.header)}")
        if base and not base.problem and not any(finding.code == "HF713" for finding in first.findings):
            yield Check("base", count, count, f"by {base.label}")


def _unsaid(header: GgufHeader) -> str:
    """What of a model its metadata does not say, so that nothing was compared with it; empty if it says all."""
    name = header.text("general.architecture")
    lacking = [what for key, what in _SIZES.items() if f"{name}.{key}" not in header.metadata]
    if not lacking or name == "clip" or role(header) == "adapter":
        return ""
    return f", which does not say {' and '.join(lacking)}: those were not compared"


def _files(files: GgufFiles) -> tuple[str, ...]:
    return tuple(name for file in files.looked for name in file.files.files)


def _evidence(checked: GgufFiles, variants: tuple[WeightsFile, ...], files: tuple[str, ...], listed: bool) -> Evidence:
    """What was looked at; `files` where all that a place holds was asked for, `listed` where its tensors are to be."""
    unseen, base, first = None, checked.base, checked.first
    reasons = [reason for file in checked.looked for reason in file.reasons]
    if reasons:
        unseen = Failure(kind="NotCompared", message="; ".join(reasons[:3]))
    elif base and base.binding and base.problem:
        unseen = Failure(kind=base.problem.kind, message=f"its base cannot be compared: {base.problem.message}")
    contained = Contained(
        files=sum(len(file.files.files) + len(file.files.lost) for file in checked.looked),
        opened=sum(len(file.files.files) for file in checked.looked),
        tensors=len(first.header.tensors) if first.header else 0,
        bytes=_sizes(first),
        rows=_tensors(first) if listed else None,
        unserved="its metadata lacks the sizes that the KV cache depends on",
        headers={file.files.name: file.header for file in checked.looked if file.role in (None, "model", "vocabulary")},
    )
    return Evidence(
        depth="headers", unseen=unseen, container="gguf", contained=contained, variants=variants, beside=files
    )


def _tensors(file: GgufFile) -> tuple[TensorRow, ...]:
    held = file.header.tensors if file.header else {}
    return tuple(stored_rows({name: (tensor.shape, tensor.type) for name, tensor in held.items()}))


def _sizes(file: GgufFile) -> dict[str, int]:
    """Bytes of the tensors by type, most first."""
    return {kind: size for kind, (_, _, size) in summary(file.header).types.items()} if file.header else {}


def _rows(files: GgufFiles, load: Workload) -> tuple[WeightsFile, ...]:
    """A row for each file or set, models first, and of these the largest."""
    ordered = sorted(
        files.looked, key=lambda file: (file.role != "model", not file.sound, -(file.size or 0), file.files.name)
    )
    return tuple(_row(file, files.blueprint if _alike(file, files.first) else None, load) for file in ordered)


def _alike(file: GgufFile, first: GgufFile) -> bool:
    """Whether a file has the tensors of the first, in whatever types, so that its cache is the same."""
    if file.header is None or first.header is None:
        return False
    return {name: tensor.shape for name, tensor in file.header.tensors.items()} == {
        name: tensor.shape for name, tensor in first.header.tensors.items()
    }


def _row(file: GgufFile, blueprint: Blueprint | None, load: Workload) -> WeightsFile:
    held, sizes = summary(file.header) if file.header else None, _sizes(file)
    memory = costs(blueprint, load._replace(ranks=()), held=sizes)[0] if blueprint and sizes else None
    wrong = any(finding.severity == "error" for finding in file.findings)
    return WeightsFile(
        file=printable(file.files.name),
        files=len(file.files.files),
        role=file.role or "unknown",
        parameters=held.elements if held else None,
        bytes=sizes,
        bits_per_weight=round(held.bits, 2) if held else None,
        verdict="mismatch" if wrong else "verified" if file.sound else "unverified",
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
        place=place,
    )
