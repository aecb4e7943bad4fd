"""An adapter of PEFT as a checkpoint: its settings and its file, held against its base."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from hfcount.checkpoints.adapter.check import Result, compare, report_alone
from hfcount.checkpoints.adapter.settings import ADAPTER_CONFIG, Settings, read_settings
from hfcount.checkpoints.bases import Base, base_of
from hfcount.checkpoints.forms import Besides
from hfcount.checkpoints.inspection import Contained, Evidence, Inspection, Options
from hfcount.errors import DocumentError
from hfcount.fetcher.folder import FolderShards
from hfcount.fetcher.interface import Documents, Request
from hfcount.fetcher.location import Place
from hfcount.fetcher.model_card import is_repo
from hfcount.formats.json import Document
from hfcount.formats.safetensors import LENGTH_BYTES, Header, Shard, header_end, read_shard
from hfcount.report.figures import AdapterFigures, Failure, TensorRow
from hfcount.text import printable
from hfcount.verifier.findings import Check, Outcome, finding_of
from hfcount.verifier.rules.hf004_truncated_shard import OtherSize
from hfcount.verifier.rules.standalone.hf010_adapter_beside import AdapterBeside

SAFETENSORS, PICKLED = "adapter_model.safetensors", "adapter_model.bin"
_FIRST = 65_536  # bytes that are read at once: the headers of most adapters


@dataclass(slots=True)
class Looked:
    """An adapter, as it was looked at.

    Args:
        settings: None if they could not be read; findings say why.
        header: that of its file; None likewise.
        reason: why something about it cannot be told; empty if all can.
        result: what comes of comparing it with its base.
        file: the name of its file.
    """

    settings: Settings | None = None
    header: Header | None = None
    reason: str = ""
    kind: str = ""
    result: Result | None = None
    base: Base | None = None
    file: str = SAFETENSORS
    outcome: Outcome = field(default_factory=Outcome)

    def doubt(self, kind: str, reason: str) -> None:
        """Says why something cannot be told; the first reason stays."""
        self.kind, self.reason = self.kind or kind, self.reason or reason


def inspect(place: Place, request: Request, options: Options) -> Inspection:
    """What was found of the adapter at a place."""
    done = options.progress(1)
    looked = Looked()
    document = place.reader.document(ADAPTER_CONFIG) or Document(ADAPTER_CONFIG, b"")
    try:
        looked.settings = read_settings(document)
        _read(place, looked)
    except DocumentError as error:
        looked.outcome.report(finding_of(error, ADAPTER_CONFIG if looked.settings is None else SAFETENSORS))
    done()
    if looked.settings and looked.header:
        _against(place, request, looked, looked.settings, looked.header)
    return Inspection(
        documents=documents_of(place, document),
        options=options,
        changes={},
        blueprint=None,
        announced=(),
        evidence=_evidence(looked, "tensors" in options.extras),
        outcome=_settled(looked),
    )


def _read(place: Place, looked: Looked) -> None:
    """Reads what its file holds; raises DocumentError where that cannot be told."""
    if SAFETENSORS in place.sizes:
        _read_safetensors(place, looked, place.sizes[SAFETENSORS])
    elif PICKLED in place.sizes:
        _read_pickled(place, looked, place.sizes[PICKLED])
    else:
        looked.doubt("NoHeaders", f"there is no {SAFETENSORS}, so that there is nothing to compare")


def _read_safetensors(place: Place, looked: Looked, size: int | None) -> None:
    first = place.reader.range(SAFETENSORS, 0, _FIRST)
    end = header_end(first, size) if len(first) >= LENGTH_BYTES else len(first)
    if end > len(first):
        first += place.reader.range(SAFETENSORS, len(first), end)
    shard = read_shard(SAFETENSORS, size, first)
    if shard.header is None:
        raise DocumentError(shard.problem or f"{SAFETENSORS} cannot be read.", "HF003", fix=shard.fix)
    looked.header = shard.header
    expected, length, data = shard.header.file_bytes, shard.header.length, shard.header.data
    if size is not None:
        looked.outcome.checks.append(Check("file_size", expected, size, "8 + header + data"))
        if size != expected:
            cut = OtherSize(file=SAFETENSORS, expected=expected, observed=size, header=length, data=data)
            looked.outcome.report(cut)


def _read_pickled(place: Place, looked: Looked, size: int | None) -> None:
    from hfcount.checkpoints.pickled_shards import broken, refused, shard  # few adapters are pickled
    from hfcount.formats.pickles import Broken, look

    looked.file = PICKLED
    if size is None:
        looked.doubt("NoHeaders", f"the size of {PICKLED} is not known, so that it cannot be read")
        return
    found = look(PICKLED, size, lambda start, stop: place.reader.range(PICKLED, start, stop))
    if isinstance(found, Broken):
        looked.outcome.findings += broken([found])
        looked.doubt("NoHeaders", found.problem.rstrip("."))
        return
    looked.outcome.findings += refused(found)
    looked.header = shard(found).header


def _against(place: Place, request: Request, looked: Looked, settings: Settings, header: Header) -> None:
    """Holds it against its base."""
    shapes = {name: entry.shape for name, entry in header.tensors.items()}
    looked.base = base_of(place, request, (settings.base,) if settings.base else ())
    base = looked.base
    if base is None or base.blueprint is None:
        looked.doubt(*_no_base(settings, base))
        for found in report_alone(settings, shapes):
            looked.outcome.report(found)
        return
    try:
        looked.result = compare(settings, shapes, base.blueprint)
    except DocumentError as error:
        looked.outcome.report(finding_of(error, ADAPTER_CONFIG))
        return
    for found in looked.result.findings:
        looked.outcome.report(found.replace(file=looked.file) if found.file == SAFETENSORS else found)
    if looked.result.unread:
        looked.doubt(looked.result.kind, looked.result.unread)
    elif looked.result.expected:
        text = f"by {ADAPTER_CONFIG} and the config of {base.label}"
        looked.outcome.checks.append(Check("base", looked.result.expected, looked.result.matched, text))


def beside(place: Place, request: Request, model: Inspection) -> Besides:
    """What was found in the adapter in a model's folder, which transformers applies to that model; no rows.

    Nothing is found where it cannot be read, or is for another model.
    """
    del request
    looked = Looked()
    try:
        settings = read_settings(place.reader.document(ADAPTER_CONFIG) or Document(ADAPTER_CONFIG, b""))
        _read(place, looked)
        if looked.header is None or model.blueprint is None:
            return Besides()
        if not place.local and settings.base not in (None, place.model):
            return Besides()
        shapes = {name: entry.shape for name, entry in looked.header.tensors.items()}
        result = compare(settings, shapes, model.blueprint)
    except DocumentError:
        return Besides()
    if result.unread:
        return Besides()
    outcome, fits = model.outcome, not any(found.severity == "error" for found in result.findings)
    outcome.findings = [
        found.replace(fits=fits) if isinstance(found, AdapterBeside) else found for found in outcome.findings
    ]
    return Besides(result.findings, files=(ADAPTER_CONFIG, looked.file))


def _no_base(settings: Settings, base: Base | None) -> tuple[str, str]:
    """Why there is no base to compare it with."""
    ask = "--base MODEL compares them"
    if base is None and settings.base and not is_repo(settings.base):
        return "BaseUnknown", f"its base, {printable(settings.base)}, is a path that is not followed; {ask}"
    if base is None:
        return "BaseUnknown", f"neither {ADAPTER_CONFIG} nor the card names its base; {ask}"
    problem = base.problem or Failure(kind="BaseUnknown", message="its config cannot be read")
    how = f"; --base {base.label} compares them" if problem.kind == "NotAsked" else ""
    return problem.kind, f"its base cannot be compared: {problem.message}{how}"


def _settled(looked: Looked) -> Outcome:
    outcome = looked.outcome
    outcome.errors_first()
    if looked.header:
        entries = looked.header.tensors.values()
        outcome.stored = sum(prod(entry.shape) for entry in entries)
        dtypes: Counter[str] = Counter()
        for entry in entries:
            dtypes[entry.dtype] += prod(entry.shape)
        outcome.dtypes = dict(dtypes)
    outcome.proven = looked.result is not None and not looked.reason
    return outcome


def _evidence(looked: Looked, listed: bool) -> Evidence:
    unseen = Failure(kind=looked.kind, message=looked.reason) if looked.reason else None
    contained = Contained(
        files=1,
        opened=int(looked.header is not None),
        tensors=len(looked.header.tensors) if looked.header else 0,
        bytes=_bytes(looked.header) if looked.header else {},
        rows=_tensors(looked.header) if looked.header and listed else None,
        unserved="an adapter is served with its base, so ask of that",
    )
    return Evidence(
        depth="headers",
        headers={looked.file: Shard(looked.file, None, looked.header)} if looked.header else None,
        unseen=unseen,
        container="adapter",
        contained=contained,
        adapter=_figures(looked),
        beside=(ADAPTER_CONFIG, looked.file),
    )


def _tensors(header: Header) -> tuple[TensorRow, ...]:
    from hfcount.checkpoints.stored_rows import stored_rows  # rarely asked for

    return tuple(stored_rows({name: (entry.shape, entry.dtype) for name, entry in header.tensors.items()}))


def _bytes(header: Header) -> Mapping[str, int]:
    sizes: Counter[str] = Counter()
    for entry in header.tensors.values():
        sizes[entry.dtype] += entry.end - entry.begin
    return dict(sizes)


def _figures(looked: Looked) -> AdapterFigures | None:
    if looked.settings is None:
        return None
    result, header = looked.result, looked.header
    parameters = sum(prod(entry.shape) for entry in header.tensors.values()) if header else None
    return AdapterFigures(
        method=printable(looked.settings.method, 40),
        base=looked.base.label if looked.base else printable(looked.settings.base) if looked.settings.base else None,
        modules=result.adapted if result else None,
        parameters=parameters,
        base_parameters=result.base_parameters if result else None,
        bytes=header.data if header else None,
    )


def documents_of(place: Place, document: Document, folder: Path | None = None) -> Documents:
    """What was read of an adapter, as documents: its settings, with its weight file if it is in a folder."""
    there = [SAFETENSORS] if folder and SAFETENSORS in place.sizes else []
    shards = FolderShards(folder or Path(), there, entries=there)
    return Documents(
        place.label,
        place.source,
        place.revision,
        document,
        None,
        shards,
        list(place.sizes),
        sizes=place.sizes,
        place=place,
    )
