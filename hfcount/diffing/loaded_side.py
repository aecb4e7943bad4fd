"""One of two checkpoints, looked at as `hfcount verify` does, and kept open for what is read besides."""

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
from hfcount.formats.gguf.header import Header
from hfcount.formats.index import read_index
from hfcount.formats.json import parse_object
from hfcount.formats.model_index import Entry
from hfcount.formats.safetensors import Entry as Stored
from hfcount.formats.safetensors import Shard
from hfcount.report.model import Report
from hfcount.verifier.header_view import HeaderView, merge


@dataclass(frozen=True)
class Looked:
    """What was found at MODEL.

    Args:
        values: its config; empty where it cannot be read, or there is none.
        inspection: None where no family describes it, or it could not be looked at.
        shards: weight files that were read, by name; None if none were.
        error: why it could not be looked at, or not be described.
        pipeline: whether it is several models.
        gguf: the header of a GGUF file; None for anything else. `parts` are the files that it is of.
        adapter: the settings of an adapter; None for anything else.
    """

    model: str
    request: Request | None = None
    documents: Documents | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    inspection: Inspection | None = None
    shards: Mapping[str, Shard] | None = None
    error: HfcountError | None = None
    pipeline: bool = False
    gguf: Header | None = None
    parts: tuple[str, ...] = ()
    adapter: Settings | None = None

    @property
    def container(self) -> str | None:
        """What holds its weights, where that is not safetensors."""
        return self.inspection.evidence.container if self.inspection else None

    @property
    def alone(self) -> bool:
        """Whether it is a container that no config of transformers describes tensor by tensor."""
        return self.gguf is not None or self.adapter is not None

    @property
    def blueprint(self) -> Blueprint | None:
        """What its config describes; None where that is not known, and of a container."""
        return self.inspection.blueprint if self.inspection and not self.alone else None

    @property
    def view(self) -> HeaderView | None:
        """The headers of its weight files; None if none were read."""
        if self.shards is None:
            return None
        index = self.inspection.evidence.fitting_index if self.inspection else None
        return merge(self.shards, index)

    def inventory(self, other: Blueprint | None = None, raw: bool = False) -> Inventory | None:
        """Its tensors; None where nothing says which it has.

        Args:
            other: whose names are taken where this side has no blueprint.
            raw: whether packed weights are taken as they are stored.
        """
        view = self.view
        if self.gguf is not None:
            return of_gguf(self.gguf)
        if self.inspection is not None and self.blueprint is not None:
            own = inventory(self.inspection, view.entries if view else None, raw)
            return replace(own, tensors={**own.tensors, **by_entries(_of_modules(self.modules)).tensors})
        return by_entries(view.entries, keyed(other) if other else str) if view else None

    @property
    def modules(self) -> Mapping[str, Shard]:
        """Weight files of modules of sentence-transformers around the model, by path."""
        if self.inspection is None:
            return {}
        paths = {one.path for one in self.inspection.outcome.modules if one.path}
        others = self.inspection.evidence.others
        return {name: one for name, one in others.items() if PurePosixPath(name).parent.as_posix() in paths}

    @property
    def broken(self) -> tuple[str, ...]:
        """The codes of findings that say that files are missing or cannot be read."""
        findings = self.inspection.outcome.findings if self.inspection else ()
        return tuple(one.code for one in findings if one.severity == "error" and one.code.startswith("HF00"))

    @property
    def misread(self) -> bool:
        """Whether it has a config of which nobody makes a model, as of one that is no JSON."""
        config = self.documents is not None and not (self.alone or self.pipeline)
        return config and self.blueprint is None and "HF001" in self.broken

    @property
    def weightless(self) -> bool:
        """Whether weights were looked for and none found, so that nothing is known of it but its config."""
        if self.inspection is None or self.documents is None or self.documents.alone or self.view is not None:
            return False
        return self.inspection.evidence.depth == "config" and self.inspection.evidence.unseen is not None

    @property
    def unseen(self) -> HfcountError | None:
        """Why its weights are not known, where there are some."""
        if self.error is not None and self.shards is None:
            return self.error
        return None


def _of_modules(shards: Mapping[str, Shard]) -> dict[str, Stored]:
    """The tensors of modules, with the folder of each before its name."""
    return {
        f"{PurePosixPath(name).parent.as_posix()}/{tensor}": entry
        for name, one in shards.items()
        if one.header
        for tensor, entry in one.header.tensors.items()
    }


@contextmanager
def looked(request: Request | HfcountError, options: Options, part: Entry | None = None) -> Iterator[Looked]:
    """What is found at MODEL; connections end afterwards.

    Args:
        part: the part of a pipeline that MODEL is, if it is one: it may have no weights but a variant's.
    """
    if isinstance(request, HfcountError):
        yield Looked("", error=request)
        return
    until = monotonic() + request.timeout
    try:
        documents = opened(request)
    except HfcountError as error:
        yield Looked(request.path, request, error=error)
        return
    if isinstance(documents, Place) or is_contained(documents, request, options):
        yield _contained(documents, request, options)
        return
    reads = Reads(documents.shards)
    documents = replace(documents, shards=reads)
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


def _contained(documents: Documents | Place, request: Request, options: Options) -> Looked:
    place = documents if isinstance(documents, Place) else documents.place
    try:
        form = container(documents, request)
        if place and form.name == "gguf":
            return _gguf(place, request, options)
        inspection = form.inspect(documents, request, options)
    except HfcountError as error:
        return Looked(request.path, request, error=error)
    found = Looked(request.path, request, inspection.documents, inspection=inspection)
    if form.name != "adapter":
        return found
    with suppress(DocumentError):
        settings = read_settings(inspection.documents.config)
        values = parse_object(inspection.documents.config)
        return replace(found, values=values, shards=inspection.evidence.headers, adapter=settings)
    return found


def _gguf(place: Place, request: Request, options: Options) -> Looked:
    """The first of the GGUF files of a place, or the one that is named."""
    from hfcount.checkpoints.gguf.examine import look
    from hfcount.checkpoints.gguf.inspect import inspected

    try:
        seen = look(place, request, options)
    finally:
        place.reader.close()
    inspection, header = inspected(place, seen, options), seen.first.header
    values = (
        {name: one if isinstance(one, str | int | float | bool) else str(one) for name, one in header.metadata.items()}
        if header
        else {}
    )
    files = seen.first.files.files
    return Looked(place.label, request, inspection.documents, values, inspection, gguf=header, parts=files)


def _examined(documents: Documents, request: Request, options: Options, until: float) -> Looked:
    if documents.layout is PIPELINE_LAYOUT:
        return Looked(request.path, request, documents, pipeline=True)
    values: Mapping[str, Any] = {}
    with suppress(DocumentError):
        values = parse_object(documents.config, endless=True)
    try:
        inspection = examine(documents, options._replace(until=until))
    except HfcountError as error:
        if isinstance(error, FetchError):
            return Looked(request.path, request, documents, values, error=error)
        return Looked(request.path, request, documents, values, shards=_headers(documents, options), error=error)
    shards = inspection.evidence.shards
    if inspection.blueprint is None and shards is None:
        shards = _headers(documents, options)
    return Looked(request.path, request, documents, values, inspection, shards)


def _headers(documents: Documents, options: Options) -> Mapping[str, Shard] | None:
    """The headers of a checkpoint of which no config says what it has."""
    if documents.alone or options.depth == "config":
        return None
    with suppress(HfcountError):
        index = read_index(documents.index) if documents.index else None
        found = weights(documents, index)
        return documents.shards.read(found.there, options.progress(len(found.there))) or None
    return None


def report(one: Looked) -> Report:
    """What `hfcount verify` says of it."""
    if one.inspection is not None:
        return report_of(one.inspection)
    error: HfcountError = one.error or UnknownArchitecture("it is a pipeline of several models")
    return failed(one.model, error)
