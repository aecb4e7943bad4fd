"""Builds two parts of the report: `evidence`, the files that were read, and `not_looked_at`, those that were not."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hfcount.checkpoints.inspection import Inspection
from hfcount.errors import DocumentError
from hfcount.fetcher import tokens
from hfcount.fetcher.interface import TOKENIZER_SETTINGS, Documents
from hfcount.fetcher.unread_files import ABSENT_TOKENIZER, CODE, ORIGINALS, beside, code, originals
from hfcount.fetcher.weights import Weights
from hfcount.formats.json import parse_object
from hfcount.formats.safetensors import Shard
from hfcount.report.model import Beside, Evidence, Files, ReportedCheck
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding

_MOST = 100  # files of a kind that are named
_WORDLESS = ("canine", "perceiver")  # whose tokenizers read bytes or characters, and have no files


def published(inspection: Inspection) -> Evidence | None:
    """The index and the weight files that were read; None if there are none."""
    evidence, dtypes = inspection.evidence, inspection.outcome.dtypes
    index, shards, weights, contained = evidence.index, evidence.shards, evidence.weights, evidence.contained
    if contained is not None:
        files = Files(named=contained.files, found=contained.opened, sized=contained.opened, opened=contained.opened)
        return Evidence(tensors=contained.tensors, shards=contained.files, dtypes=dtypes, files=files)
    if index is None and shards is None:
        return None
    headers = [shard.header for shard in (shards or {}).values() if shard.header]
    visible = inspection.documents.shards.names
    named = index.shards if index else (shards or {}).keys()
    return Evidence(
        total_size=index.total_size if index else None,
        total_parameters=index.total_parameters if index else None,
        tensors=len(index.weight_map) if index else sum(len(header.tensors) for header in headers),
        shards=len(named),
        dtypes=dtypes,
        unlisted=tuple(printable(name) for name in sorted(visible) if name not in named) if index and visible else (),
        files=_files(inspection, weights) if weights else None,
    )


def _files(inspection: Inspection, weights: Weights) -> Files:
    evidence = inspection.evidence
    known = weights.sizes is not None and (weights.whole or len(weights.sizes) >= len(weights.named))
    return Files(
        named=len(weights.named),
        found=sum(name in (weights.sizes or ()) for name in weights.named) if known else None,
        sized=inspection.outcome.sized,
        opened=len(evidence.headers or ()),
        apart={printable(name): why for name, why in sorted(weights.apart.items()) if name not in evidence.others},
    )


def file_checks(
    evidence: Evidence | None, headers: Mapping[str, Shard], findings: Sequence[Finding]
) -> Iterator[ReportedCheck]:
    """Rows for what is wrong with files, which no other row shows: how many can be read, and their bytes.

    Args:
        headers: of the weight files that were opened.
    """
    yield from _readable(evidence.files if evidence else None, headers, findings)
    cut = [finding for finding in findings if finding.code == "HF004" and finding.severity == "error"]
    sizes = [(finding.expected, finding.observed) for finding in cut]
    known = [(needed, size) for needed, size in sizes if isinstance(needed, int) and isinstance(size, int)]
    if known:
        expected, observed = (sum(column) for column in zip(*known, strict=True))
        text = f"of {plural(len(known), 'file')} that {'is' if len(known) == 1 else 'are'} cut off or too long"
        yield ReportedCheck(name="bytes", expected=expected, observed=observed, agrees=False, text=text)


def _readable(
    files: Files | None, headers: Mapping[str, Shard], findings: Sequence[Finding]
) -> Iterator[ReportedCheck]:
    """The row of files that are missing or cannot be read, if there are any."""
    if files is None or files.found is None:
        return
    named = {finding.file for finding in findings if finding.code == "HF003"}
    problems = {file for file, shard in headers.items() if shard.problem is not None}
    # One finding is of several pickled files, and of modules around a model.
    others = {file for file in named if file and not headers and not file.endswith(".bin")}
    broken = len(problems or others) if named else 0
    readable = files.found - min(broken, files.found)
    if broken or (readable < files.named and any(finding.code == "HF005" for finding in findings)):
        text = f"{broken:,} cannot be read" if broken else ""
        yield ReportedCheck(name="files", expected=files.named, observed=readable, agrees=False, text=text)


def unread(inspection: Inspection) -> tuple[Beside, ...]:
    """The files next to the model that were not read; none if only the config was to be counted."""
    weights, evidence, documents = inspection.evidence.weights, inspection.evidence, inspection.documents
    if weights is None and not (evidence.contained and evidence.beside):
        return ()
    read, names = {*(evidence.headers or ()), *evidence.beside, *evidence.others}, {*documents.files}
    read.update(documents.companions)
    if weights is not None:
        read.update(weights.named if evidence.index else ())
        names = {*weights.files, *(weights.sizes or ()), *weights.apart}
    files = beside(names, read, documents.companions)
    if named := code(names, _settings(documents)):
        files[CODE] = named
    if weights is not None and weights.listed and _lacks_tokenizer(inspection, names):
        files[ABSENT_TOKENIZER] = []
    if documents.source == "folder" and (kept := originals(documents.model)):
        files[ORIGINALS] = kept
    return kinds(files)


def _lacks_tokenizer(inspection: Inspection, names: Collection[str]) -> bool:
    """Whether a model that reads words has no file of a tokenizer; a draft takes its target's."""
    spec = inspection.blueprint.spec if inspection.blueprint else None
    if spec is None or not spec.vocab or spec.family in _WORDLESS:
        return False
    if TOKENIZER_SETTINGS in names or tokens.has_words(names):
        return False
    from hfcount.architectures.components.drafts import Draft  # most have a tokenizer

    return not isinstance(spec.own, Draft)


def _settings(documents: Documents) -> Iterator[Mapping[str, Any]]:
    """The config, and what the tokenizer's config says, as far as they can be read."""
    with suppress(DocumentError):
        yield parse_object(documents.config, endless=True)
    yield tokens.settings(documents.companions)


def kinds(files: Mapping[str, list[str]]) -> tuple[Beside, ...]:
    """Files that were not read as a report lists them; `files` are their paths by kind."""
    return tuple(
        Beside(kind=kind, count=len(paths), files=tuple(map(printable, paths[:_MOST]))) for kind, paths in files.items()
    )
