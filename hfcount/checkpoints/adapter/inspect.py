"""Inspects a PEFT adapter: compares its settings and its file with the base model."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.check import Result, compare, refused_settings, report_alone
from hfcount.checkpoints.adapter.settings import ADAPTER_CONFIG, Settings, read_settings
from hfcount.checkpoints.adapter.targets import Unread
from hfcount.checkpoints.bases import Base, base_of
from hfcount.checkpoints.forms import Besides
from hfcount.checkpoints.inspection import Contained, Evidence, Inspection, Options
from hfcount.errors import DocumentError
from hfcount.fetcher.folder import FolderShards
from hfcount.fetcher.interface import Documents, Request
from hfcount.fetcher.location import Place
from hfcount.fetcher.model_card import is_repo
from hfcount.fetcher.suggestions import command
from hfcount.formats.json import Document
from hfcount.formats.safetensors import LENGTH_BYTES, Header, Shard, header_end, read_shard
from hfcount.report.figures import AdapterFigures, Failure, TensorRow
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Check, Outcome, finding_of
from hfcount.verifier.rules.hf004_truncated_shard import OtherSize
from hfcount.verifier.rules.standalone.hf010_adapter_beside import AdapterBeside

SAFETENSORS, PICKLED, OF_MLX = "adapter_model.safetensors", "adapter_model.bin", "adapters.safetensors"
_FIRST = 65_536  # bytes that are read at once: the headers of most adapters


@dataclass(slots=True)
class LoadedAdapter:
    """An adapter, as far as it was read and compared.

    Args:
        settings: None if they could not be read; findings say why.
        header: that of its file; None likewise.
        reason: why a part of it is unknown; empty if nothing is.
        result: of comparing it with its base model.
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
        """Notes why a part is unknown; the first reason stays."""
        self.kind, self.reason = self.kind or kind, self.reason or reason


def inspect(place: Place, request: Request, options: Options) -> Inspection:
    """Reads an adapter, and compares it with its base model."""
    done = options.progress(1)
    adapter = LoadedAdapter()
    document = place.reader.document(ADAPTER_CONFIG) or Document(ADAPTER_CONFIG, b"")
    try:
        adapter.settings = read_settings(document)
        _read(place, adapter)
    except DocumentError as error:
        adapter.outcome.report(finding_of(error, ADAPTER_CONFIG if adapter.settings is None else SAFETENSORS))
    done()
    if adapter.settings and adapter.header:
        _against(place, request, adapter, adapter.settings, adapter.header)
    return Inspection(
        documents=documents_of(place, document),
        options=options,
        changes={},
        blueprint=None,
        announced=(),
        evidence=_evidence(adapter, "tensors" in options.extras),
        outcome=_settled(adapter),
    )


def _read(place: Place, adapter: LoadedAdapter) -> None:
    """Reads the header of the weight file; raises DocumentError if it is malformed."""
    name = OF_MLX if adapter.settings and adapter.settings.is_of_mlx else SAFETENSORS
    if name in place.sizes:
        adapter.file = name
        adapter.header, checks, findings = read_safetensors(place, name, place.sizes[name])
        adapter.outcome.checks += checks
        for finding in findings:
            adapter.outcome.report(finding)
    elif PICKLED in place.sizes and name == SAFETENSORS:
        _read_pickled(place, adapter, place.sizes[PICKLED])
    else:
        adapter.doubt("NoHeaders", f"there is no {name}, so there is nothing to compare")


def read_safetensors(place: Place, file: str, size: int | None) -> tuple[Header, list[Check], list[Finding]]:
    """The header of a file of safetensors, with the check of its size and what that differs by.

    Raises:
        DocumentError: it is malformed.
    """
    first = place.reader.range(file, 0, _FIRST)
    end = header_end(first, size) if len(first) >= LENGTH_BYTES else len(first)
    if end > len(first):
        first += place.reader.range(file, len(first), end)
    shard = read_shard(file, size, first)
    if shard.header is None:
        raise DocumentError(shard.problem or f"{file} cannot be read.", "HF003", fix=shard.fix)
    expected, length, data = shard.header.file_bytes, shard.header.length, shard.header.data
    if size is None:
        return shard.header, [], []
    checks = [Check("file_size", expected, size, "8 + header + data")]
    cut = OtherSize(file=file, expected=expected, observed=size, header=length, data=data)
    return shard.header, checks, [cut] if size != expected else []


def _read_pickled(place: Place, adapter: LoadedAdapter, size: int | None) -> None:
    from hfcount.checkpoints.pickled_shards import broken, refused, shard  # few adapters are pickled
    from hfcount.formats.pickles import Broken, look

    adapter.file = PICKLED
    if size is None:
        adapter.doubt("NoHeaders", f"the size of {PICKLED} is not known, so it cannot be read")
        return
    file = look(PICKLED, size, lambda start, stop: place.reader.range(PICKLED, start, stop))
    if isinstance(file, Broken):
        adapter.outcome.findings += broken([file])
        adapter.doubt("NoHeaders", file.problem.rstrip("."))
        return
    adapter.outcome.findings += refused(file)
    adapter.header = shard(file).header


def _against(place: Place, request: Request, adapter: LoadedAdapter, settings: Settings, header: Header) -> None:
    """Compares the adapter with its base model."""
    shapes = {name: entry.shape for name, entry in header.tensors.items()}
    adapter.base = base_of(place, request, (settings.base,) if settings.base else ())
    base = adapter.base
    if base is None or base.blueprint is None:
        adapter.doubt(*_no_base(place.model, settings, base))
        for finding in (*refused_settings(settings), *report_alone(settings, shapes)):
            adapter.outcome.report(finding)
        return
    if settings.is_of_mlx:
        _against_mlx(adapter, settings, shapes, base, base.blueprint)
        return
    try:
        adapter.result = compare(settings, shapes, base.blueprint)
    except DocumentError as error:
        adapter.outcome.report(finding_of(error, ADAPTER_CONFIG))
        return
    for finding in (*refused_settings(settings), *adapter.result.findings):
        adapter.outcome.report(finding.replace(file=adapter.file) if finding.file == SAFETENSORS else finding)
    if adapter.result.unread:
        adapter.doubt(adapter.result.kind, adapter.result.unread)
    elif adapter.result.expected:
        text = f"by {ADAPTER_CONFIG} and the config of {base.label}"
        adapter.outcome.checks.append(Check("base", adapter.result.expected, adapter.result.matched, text))


def _against_mlx(
    adapter: LoadedAdapter, settings: Settings, shapes: Mapping[str, tuple[int, ...]], base: Base, blueprint: Blueprint
) -> None:
    """Compares an adapter of mlx-lm with its base model."""
    from hfcount.checkpoints.adapter.mlx import compare_mlx  # few adapters are mlx-lm's

    try:
        findings, expected = compare_mlx(settings, shapes, blueprint, base.label)
    except Unread as error:
        adapter.doubt(error.kind, str(error))
        return
    except DocumentError as error:
        adapter.outcome.report(finding_of(error, ADAPTER_CONFIG))
        return
    for finding in findings:
        adapter.outcome.report(finding)
    matched = sum(1 for name, shape in expected.items() if shapes.get(name) == shape)
    modules = len({name.rpartition(".")[0] for name in shapes})
    adapter.result = Result(findings, "", "", blueprint.total, modules, len(shapes), matched)
    if expected:
        text = f"by {ADAPTER_CONFIG} and the config of {base.label}"
        adapter.outcome.checks.append(Check("base", len(shapes), matched, text))


def beside(place: Place, request: Request, model: Inspection) -> Besides:
    """Compares the adapter in a model's folder with that model, to which transformers applies it; no rows.

    Nothing is found where it cannot be read, or is for another model.
    """
    del request
    adapter = LoadedAdapter()
    try:
        settings = read_settings(place.reader.document(ADAPTER_CONFIG) or Document(ADAPTER_CONFIG, b""))
        _read(place, adapter)
        if adapter.header is None or model.blueprint is None or settings.is_of_mlx:
            return Besides()
        if not place.local and settings.base not in (None, place.model):
            return Besides()
        shapes = {name: entry.shape for name, entry in adapter.header.tensors.items()}
        result = compare(settings, shapes, model.blueprint)
    except DocumentError:
        return Besides()
    if result.unread:
        return Besides()
    findings = [*refused_settings(settings), *result.findings]
    outcome, fits = model.outcome, not any(finding.severity == "error" for finding in findings)
    outcome.findings = [
        finding.replace(fits=fits) if isinstance(finding, AdapterBeside) else finding for finding in outcome.findings
    ]
    return Besides(findings, files=(ADAPTER_CONFIG, adapter.file))


def _no_base(model: str, settings: Settings, base: Base | None) -> tuple[str, str]:
    """Why there is no base model to compare with: kind and text of the failure."""
    if base is None and settings.base and not is_repo(settings.base):
        ask = command(model, "--base", "MODEL")
        where = f"its base, {printable(settings.base)}, is outside this folder"
        return "BaseUnknown", f"{where}: not checked. Run: {ask}"
    if base is None:
        ask = command(model, "--base", "MODEL")
        return "BaseUnknown", f"neither {ADAPTER_CONFIG} nor the model card names its base: not checked. Run: {ask}"
    problem = base.problem or Failure(kind="BaseUnknown", message="its config cannot be read")
    how = f". Run: {command(model, '--base', base.label)}" if problem.kind == "NotAsked" else ""
    return problem.kind, f"its base cannot be compared: {problem.message}{how}"


def _settled(adapter: LoadedAdapter) -> Outcome:
    outcome = adapter.outcome
    outcome.errors_first()
    if adapter.header:
        entries = adapter.header.tensors.values()
        outcome.stored = sum(prod(entry.shape) for entry in entries)
        dtypes: Counter[str] = Counter()
        for entry in entries:
            dtypes[entry.dtype] += prod(entry.shape)
        outcome.dtypes = dict(dtypes)
    outcome.proven = adapter.result is not None and not adapter.reason
    return outcome


def _evidence(adapter: LoadedAdapter, listed: bool) -> Evidence:
    unseen = Failure(kind=adapter.kind, message=adapter.reason) if adapter.reason else None
    form = "mlx adapter" if adapter.settings and adapter.settings.is_of_mlx else "adapter"
    evidence = evidence_of(adapter.file, adapter.header, _figures(adapter), unseen, listed, form)
    return evidence.replace(beside=(ADAPTER_CONFIG, adapter.file))


def evidence_of(
    file: str,
    header: Header | None,
    figures: AdapterFigures | None,
    unseen: Failure | None,
    listed: bool,
    form: str = "adapter",
) -> Evidence:
    """What was read of an adapter.

    Args:
        header: None if it could not be read.
        unseen: why something is not known.
        listed: whether its tensors are to be listed.
        form: what loaders are asked for, as `FORMS` has it.
    """
    contained = Contained(
        files=1,
        opened=int(header is not None),
        tensors=len(header.tensors) if header else 0,
        bytes=_bytes(header) if header else {},
        rows=_tensors(header) if header and listed else None,
        unserved="an adapter is served with its base: ask for the base instead",
    )
    return Evidence(
        depth="headers",
        headers={file: Shard(file, None, header)} if header else None,
        unseen=unseen,
        container="adapter",
        form=form,
        contained=contained,
        adapter=figures,
        beside=(file,),
    )


def _tensors(header: Header) -> tuple[TensorRow, ...]:
    from hfcount.checkpoints.stored_rows import stored_rows  # rarely asked for

    return tuple(stored_rows({name: (entry.shape, entry.dtype) for name, entry in header.tensors.items()}))


def _bytes(header: Header) -> Mapping[str, int]:
    sizes: Counter[str] = Counter()
    for entry in header.tensors.values():
        sizes[entry.dtype] += entry.end - entry.begin
    return dict(sizes)


def _figures(adapter: LoadedAdapter) -> AdapterFigures | None:
    if adapter.settings is None:
        return None
    result, header = adapter.result, adapter.header
    parameters = sum(prod(entry.shape) for entry in header.tensors.values()) if header else None
    return AdapterFigures(
        method=printable(adapter.settings.method, 40),
        base=adapter.base.label
        if adapter.base
        else printable(adapter.settings.base)
        if adapter.settings.base
        else None,
        modules=result.adapted if result else None,
        parameters=parameters,
        base_parameters=result.base_parameters if result else None,
        bytes=header.data if header else None,
    )


def documents_of(place: Place, document: Document, folder: Path | None = None) -> Documents:
    """An adapter as documents: its settings, with its weight file if it is in a folder."""
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
