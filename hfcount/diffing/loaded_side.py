"""One of the two checkpoints, inspected as `hfcount verify` does and kept open for further reads."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from time import monotonic
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.settings import Settings, read_settings
from hfcount.checkpoints.examine import examine
from hfcount.checkpoints.forms import container, is_contained
from hfcount.checkpoints.inspect import failed, report_of
from hfcount.checkpoints.inspection import Inspection, Options
from hfcount.diffing.tensors import Inventory, by_entries, inventory, keyed, of_gguf
from hfcount.errors import DocumentError, FetchError, HfcountError, UnknownArchitecture
from hfcount.fetcher import Request, finish, opened
from hfcount.fetcher.interface import Documents, Reads
from hfcount.fetcher.layout import PIPELINE_LAYOUT
from hfcount.fetcher.location import Place
from hfcount.fetcher.weights import weights
from hfcount.formats.gguf.header import GgufHeader
from hfcount.formats.index import read_index
from hfcount.formats.json import parse_object
from hfcount.formats.model_index import Entry
from hfcount.formats.safetensors import Entry as Stored
from hfcount.formats.safetensors import Shard
from hfcount.report.model import Report
from hfcount.verifier.header_view import HeaderView, merge


@dataclass(frozen=True)
class LoadedSide:
    """A checkpoint and everything read of it.

    Args:
        values: its config; empty if missing or unreadable.
        inspection: None if no family describes it, or it could not be read.
        shards: headers of weight files, by name; None if none were read.
        error: why it could not be read or described.
        pipeline: whether it is a pipeline of several models.
        gguf: the header of a GGUF file, whose files are `parts`; None for other forms.
        adapter: the settings of an adapter; None for other forms.
    """

    model: str
    request: Request | None = None
    documents: Documents | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    inspection: Inspection | None = None
    shards: Mapping[str, Shard] | None = None
    error: HfcountError | None = None
    pipeline: bool = False
    gguf: GgufHeader | None = None
    parts: tuple[str, ...] = ()
    adapter: Settings | None = None

    @property
    def container(self) -> str | None:
        """The container of its weights, if not safetensors."""
        return self.inspection.evidence.container if self.inspection else None

    @property
    def alone(self) -> bool:
        """Whether it is a GGUF file or an adapter, which have no blueprint of their own."""
        return self.gguf is not None or self.adapter is not None

    @property
    def blueprint(self) -> Blueprint | None:
        """Its blueprint; None if unknown, and for GGUF files and adapters."""
        return self.inspection.blueprint if self.inspection and not self.alone else None

    @property
    def view(self) -> HeaderView | None:
        """The headers of its weight files; None if none were read."""
        if self.shards is None:
            return None
        index = self.inspection.evidence.fitting_index if self.inspection else None
        return merge(self.shards, index)

    def inventory(self, other: Blueprint | None = None, raw: bool = False) -> Inventory | None:
        """Its tensors; None if unknown.

        Args:
            other: the other side's blueprint, for names if this side has none.
            raw: whether packed weights stay as stored.
        """
        view = self.view
        if self.gguf is not None:
            return of_gguf(self.gguf)
        if self.inspection is not None and self.blueprint is not None:
            tensors = inventory(self.inspection, view.entries if view else None, raw)
            return replace(tensors, tensors={**tensors.tensors, **by_entries(_of_modules(self.modules)).tensors})
        return by_entries(view.entries, keyed(other) if other else str) if view else None

    @property
    def modules(self) -> Mapping[str, Shard]:
        """Weight files of sentence-transformers modules, by path."""
        if self.inspection is None:
            return {}
        paths = {module.path for module in self.inspection.outcome.modules if module.path}
        others = self.inspection.evidence.others
        return {name: shard for name, shard in others.items() if PurePosixPath(name).parent.as_posix() in paths}

    @property
    def broken(self) -> tuple[str, ...]:
        """The codes of findings about missing or unreadable files."""
        findings = self.inspection.outcome.findings if self.inspection else ()
        return tuple(
            finding.code for finding in findings if finding.severity == "error" and finding.code.startswith("HF00")
        )

    @property
    def misread(self) -> bool:
        """Whether its config is unusable, such as invalid JSON."""
        config = self.documents is not None and not (self.alone or self.pipeline)
        return config and self.blueprint is None and "HF001" in self.broken

    @property
    def weightless(self) -> bool:
        """Whether no weights were found, so that only its config is known."""
        if self.inspection is None or self.documents is None or self.documents.alone or self.view is not None:
            return False
        return self.inspection.evidence.depth == "config" and self.inspection.evidence.unseen is not None

    @property
    def unseen(self) -> HfcountError | None:
        """Why its weights could not be read."""
        if self.error is not None and self.shards is None:
            return self.error
        return None


def _of_modules(shards: Mapping[str, Shard]) -> dict[str, Stored]:
    """The tensors of modules, each prefixed with its folder."""
    return {
        f"{PurePosixPath(name).parent.as_posix()}/{tensor}": entry
        for name, shard in shards.items()
        if shard.header
        for tensor, entry in shard.header.tensors.items()
    }


@contextmanager
def load_side(request: Request | HfcountError, options: Options, part: Entry | None = None) -> Iterator[LoadedSide]:
    """Reads one side; connections close afterwards.

    Args:
        part: the pipeline part that MODEL is, if any: its only weights may be a variant's.
    """
    if isinstance(request, HfcountError):
        yield LoadedSide("", error=request)
        return
    until = options.until or monotonic() + request.timeout
    try:
        documents = opened(request)
    except HfcountError as error:
        yield LoadedSide(request.path, request, error=error)
        return
    if isinstance(documents, Place) or is_contained(documents, request, options):
        yield _contained(documents, request, options)
        return
    reads = Reads(documents.shards)
    documents = documents.replace(shards=reads)
    try:
        yield _examined(_with_weights(documents, part) if part else documents, request, options, until)
    finally:
        finish(request, documents, reads.headers, reads.samples, reads.pickled)


def _with_weights(documents: Documents, part: Entry) -> Documents:
    """A part of a pipeline, by its variant where it has no plain files of weights."""
    from hfcount.checkpoints.pipeline.inspect import of_variant
    from hfcount.checkpoints.pipeline.weights import weight_files

    files = weight_files(part, {*documents.files, *(documents.shards.names or ()), *(documents.sizes or ())})
    if files.plain or not files.safe:
        return documents
    return of_variant(documents, files, next(iter(files.safe)))


def _contained(documents: Documents | Place, request: Request, options: Options) -> LoadedSide:
    place = documents if isinstance(documents, Place) else documents.place
    try:
        form = container(documents, request)
        if place and form.name == "gguf":
            return _gguf(place, request, options)
        inspection = form.inspect(documents, request, options)
    except HfcountError as error:
        return LoadedSide(request.path, request, error=error)
    side = LoadedSide(request.path, request, inspection.documents, inspection=inspection)
    if form.name != "adapter":
        return side
    with suppress(DocumentError):
        settings = read_settings(inspection.documents.config)
        values = parse_object(inspection.documents.config)
        return replace(side, values=values, shards=inspection.evidence.headers, adapter=settings)
    return side


def _gguf(place: Place, request: Request, options: Options) -> LoadedSide:
    """Reads the named GGUF file, or the first."""
    from hfcount.checkpoints.gguf.examine import look
    from hfcount.checkpoints.gguf.inspect import inspected

    try:
        examination = look(place, request, options)
    finally:
        place.reader.close()
    inspection, header = inspected(place, examination, options), examination.first.header
    values = (
        {
            name: value if isinstance(value, str | int | float | bool) else str(value)
            for name, value in header.metadata.items()
        }
        if header
        else {}
    )
    files = examination.first.files.files
    return LoadedSide(place.label, request, inspection.documents, values, inspection, gguf=header, parts=files)


def _examined(documents: Documents, request: Request, options: Options, until: float) -> LoadedSide:
    if documents.layout is PIPELINE_LAYOUT:
        return LoadedSide(request.path, request, documents, pipeline=True)
    values: Mapping[str, Any] = {}
    with suppress(DocumentError):
        values = parse_object(documents.config, endless=True)
    try:
        inspection = examine(documents, options._replace(until=until))
    except HfcountError as error:
        if isinstance(error, FetchError):
            return LoadedSide(request.path, request, documents, values, error=error)
        return LoadedSide(request.path, request, documents, values, shards=_headers(documents, options), error=error)
    shards = inspection.evidence.shards
    if inspection.blueprint is None and shards is None:
        shards = _headers(documents, options)
    return LoadedSide(request.path, request, documents, values, inspection, shards)


def _headers(documents: Documents, options: Options) -> Mapping[str, Shard] | None:
    """The headers of a checkpoint without a blueprint."""
    if documents.alone or options.depth == "config":
        return None
    with suppress(HfcountError):
        index = read_index(documents.index) if documents.index else None
        files = weights(documents, index)
        return documents.shards.read(files.there, options.progress(len(files.there))) or None
    return None


def report(side: LoadedSide) -> Report:
    """The report of `hfcount verify`."""
    if side.inspection is not None:
        return report_of(side.inspection)
    error: HfcountError = side.error or UnknownArchitecture("it is a pipeline of several models")
    return failed(side.model, error)
