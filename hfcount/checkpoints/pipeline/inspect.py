"""Inspects a pipeline: each part by itself, then whether the parts fit the class of the pipeline and each other."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from hfcount.checkpoints.examine import examine, with_values
from hfcount.checkpoints.inspection import Options
from hfcount.checkpoints.pipeline.check import SCHEDULER, Folder, PartFolders, check_folders, class_differs, described
from hfcount.checkpoints.pipeline.loadable import is_code, other_type
from hfcount.checkpoints.pipeline.report import ListedPart, SharedResults, combined
from hfcount.checkpoints.pipeline.serving import served
from hfcount.checkpoints.pipeline.sizes import misfits
from hfcount.checkpoints.pipeline.weightless import (
    Words,
    endless,
    scheduler_findings,
    tokenizer_findings,
    unloadable_words,
)
from hfcount.checkpoints.pipeline.weights import WeightFiles, is_foreign, layout_of_variant
from hfcount.checkpoints.report import report_of
from hfcount.errors import DocumentError, FetchError, HfcountError
from hfcount.fetcher import finish
from hfcount.fetcher.fixtures import record_parts
from hfcount.fetcher.folder import local_path
from hfcount.fetcher.interface import Documents, Reads, Request
from hfcount.fetcher.layout import BIN_INDEX, MODEL_INDEX
from hfcount.fetcher.pipeline_parts import PartResult, at_root, folder_files, open_parts, root_files
from hfcount.fetcher.unread_files import beside
from hfcount.formats.json import parse_object
from hfcount.formats.model_index import Entry, PipelineIndex, read_pipeline
from hfcount.report.figures import Failure
from hfcount.report.model import Beside, Report
from hfcount.serving.cost import Workload
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import finding_of

_UNKNOWN = PartFolders({}, {}, (), ())


class _Opened(NamedTuple):
    """A part with weights: what it was asked for with, what there is, and whether that is the pipeline's own folder."""

    request: Request
    found: PartResult
    root: bool = False


def inspect(documents: Documents, request: Request, options: Options) -> Report:
    """The report of a pipeline.

    Args:
        documents: of the folder with model_index.json.

    Raises:
        FetchError: what was read could not be recorded.
    """
    opened: dict[str, _Opened] = {}
    reads = Reads(documents.shards)  # of files in its own folder, where a part may be
    try:
        try:
            index = read_pipeline(documents.config)
        except DocumentError as error:
            return combined(documents, options, SharedResults(None, [finding_of(error, MODEL_INDEX)]), [])
        return _Run(documents.replace(shards=reads), request, options, index, opened).report()
    finally:
        for part in opened.values():
            if not part.root and isinstance(part.found, Documents) and isinstance(part.found.shards, Reads):
                inner = part.found.shards
                finish(part.request, part.found, inner.headers, inner.samples, inner.pickled)
        finish(request, _with_root(documents, opened), reads.headers, reads.samples, reads.pickled)


def _with_root(documents: Documents, opened: Mapping[str, _Opened]) -> Documents:
    """The documents of a pipeline with those of the parts that are in its own folder."""
    for part in opened.values():
        if part.root and isinstance(documents_of_part := part.found, Documents):
            more = {documents_of_part.layout.config: documents_of_part.config, **documents_of_part.companions}
            more |= {documents_of_part.layout.listing: documents_of_part.index} if documents_of_part.index else {}
            documents = documents.replace(companions={**documents.companions, **more})
    return documents


class _Run(NamedTuple):
    """One pipeline, and how it is looked at; `opened` are the parts that were read, by name."""

    documents: Documents
    request: Request
    options: Options
    listing: PipelineIndex
    opened: dict[str, _Opened]

    def report(self) -> Report:
        """The report of the whole."""
        entries, findings = described(self.listing, root_files(self.documents) if self._known else None)
        folders = {entry.name: self._folder(entry.name) for entry in entries}
        contents = _UNKNOWN
        if self._known:
            contents = check_folders(self.listing, entries, folders, self.documents.source != "folder")
        findings += contents.findings
        there = [entry for entry in entries if not entry.weightless and entry.name not in contents.absent]
        self._open(folders, [entry.name for entry in there if not is_code(entry, folders[entry.name].names)])
        configs = {entry.name: config for entry in entries if (config := self._config(entry))}
        settings = dict[str, Mapping[str, Any]]()
        for entry in entries:
            findings += class_differs(entry, configs.get(entry.name, {}))
            findings += self._scheduler(entry, folders[entry.name], contents)
            if words := self._words(entry, folders[entry.name], contents):
                settings[entry.name] = words.settings
                findings += unloadable_words(words)
                if words.is_tokenizer:
                    findings += [*endless(words, self.listing.kind), *tokenizer_findings(words, configs)]
        findings += misfits(self.listing.kind, entries, {**settings, **configs}, self.listing.settings)
        listed = [self._listed(entry, contents, folders[entry.name]) for entry in entries]
        if self.options.save is not None:
            parts = {name: part.found for name, part in self.opened.items() if isinstance(part.found, Documents)}
            parts = {name: part for name, part in parts.items() if not self.opened[name].root}
            record_parts(_with_root(self.documents, self.opened), parts, self.options.save)
        answers, refusals = served(listed, self.options)
        around = tuple(self._beside(entries))
        shared = SharedResults(self.listing.kind, [*findings, *refusals], around, answers, self.options.load.memory)
        return combined(self.documents, self.options, shared, listed)

    @property
    def _known(self) -> bool:
        """Whether a file that was not listed is not there: a cache has what was asked for before."""
        return self.documents.source == "folder" or self.documents.sizes is not None

    def _folder(self, part: str) -> Folder:
        """Where a part is: in the folder of its name, or else in the pipeline's own."""
        names = folder_files(self.request, self.documents, part)
        return Folder(root_files(self.documents), root=True) if names is None and self._known else Folder(names or ())

    def _open(self, folders: Mapping[str, Folder], names: list[str]) -> None:
        inner = [name for name in names if not folders[name].root]
        for name, (asked, part) in open_parts(self.request, self.documents, inner).items():
            if isinstance(part, Documents):
                part = part.replace(shards=Reads(part.shards))
            self.opened[name] = _Opened(asked, part)
        for name in names:
            if folders[name].root:
                self.opened[name] = _Opened(self.request, self._root(), root=True)

    def _scheduler(self, entry: Entry, folder: Folder, contents: PartFolders) -> Iterator[Finding]:
        """Findings about a scheduler of a local folder; on the Hub these would need further requests."""
        if self.documents.source != "folder" or entry.name in contents.absent:
            return
        if entry.kind.endswith("Scheduler") and self.documents.place:
            name = SCHEDULER if folder.root else f"{entry.name}/{SCHEDULER}"
            yield from scheduler_findings(entry, self.documents.place, name, self.listing.kind)

    def _words(self, entry: Entry, folder: Folder, contents: PartFolders) -> Words | None:
        """A tokenizer or processor of a local folder; None for other parts, or elsewhere."""
        if self.documents.source != "folder" or entry.name in contents.absent or folder.root:
            return None
        if not entry.weightless or entry.kind.endswith("Scheduler") or is_code(entry, folder.names):
            return None
        return Words.read(entry, local_path(self.request.path) / entry.name, folder.names)

    def _root(self) -> PartResult:
        """The model in the pipeline's own folder."""
        try:
            return at_root(self.documents) or FetchError("NoConfig", "there is no config.json.")
        except FetchError as error:
            return error

    def _config(self, entry: Entry) -> Mapping[str, Any]:
        """The values of a part's config; empty where it has none that can be read."""
        part = self.opened.get(entry.name)
        if part is not None and isinstance(part.found, Documents):
            with suppress(DocumentError):  # which the report of the part tells
                return parse_object(part.found.config, endless=True)
        return {}

    def _listed(self, entry: Entry, contents: PartFolders, folder: Folder) -> ListedPart:
        report = None
        if entry.name in self.opened:
            report = self._of_part(entry, contents)
        elif is_code(entry, folder.names):
            code = printable(f"{entry.name}/{entry.library}.py")
            report = _unknown("OwnCode", f"{entry.by} is code in the repo, {code}, which hfcount does not read")
        elif not (entry.weightless or entry.name in contents.absent):
            report = _unknown("NotCached", f"{entry.name} is not in the cache")
        return ListedPart(entry.name, entry.library, entry.kind, report, entry.name in contents.absent)

    def _of_part(self, entry: Entry, contents: PartFolders) -> Report:
        """The report of a part with weights."""
        asked, part, _ = self.opened[entry.name]
        files = contents.weights.get(entry.name)
        if is_foreign(entry):
            return _unknown("NoSafetensors", f"hfcount does not read weights of {entry.by}")
        if not isinstance(part, Documents):
            error = part if isinstance(part, HfcountError) else part.refusal()
            return _unknown(error.kind, str(error))
        settings = self.options._replace(load=Workload(), save=None)
        unread = _unread(entry, files, contents, self.options.depth == "data" and part.source == "folder")
        settings = settings._replace(depth="config") if unread else settings
        if variant := contents.variant.get(entry.name):
            part = of_variant(part, contents.weights[entry.name], variant)
        try:
            report = _judge(entry, part.replace(loaded_as=_class_of(entry, self._config(entry))), asked, settings)
        except HfcountError as error:
            return _unknown(error.kind, str(error))
        if unread and self.options.depth != "config" and report.error is None:
            return report.replace(error=Failure(kind="NoHeaders", message=unread))
        return report

    def _beside(self, entries: list[Entry]) -> Iterator[Beside]:
        """Files that belong to no part."""
        inner = {entry.name for entry in entries}
        names = self.documents.files if self.documents.sizes is None else self.documents.sizes
        outer = [name for name in names if name.partition("/")[0] not in inner]
        several = beside(outer, (), {})
        if loose := sorted(name for name in outer if "/" not in name and name.endswith(".safetensors")):
            several["weights beside the parts"] = loose
        for kind, files in several.items():
            yield Beside(kind=kind, count=len(files), files=tuple(printable(name) for name in files[:100]))


def _judge(entry: Entry, part: Documents, request: Request, options: Options) -> Report:
    """The report of a part."""
    inspection = with_values(examine(part, options.of_headers), request, options)
    outcome = inspection.outcome  # diffusers loads every part in the dtype that it is asked for
    findings = [finding for finding in outcome.findings if finding.code != "HF302"]
    outcome.findings = [_milder(finding) if entry.library == "transformers" else finding for finding in findings]
    return report_of(inspection)


def _milder(finding: Finding) -> Finding:
    """A finding as transformers, which alone loads the part, has it: it reads a whole file before an index."""
    from hfcount.verifier.rules.hf005_missing_shard import MissingByIndex

    stale = isinstance(finding, MissingByIndex) and finding.stored == finding.all
    return finding.replace(severity="note") if stale else finding


def of_variant(part: Documents, files: WeightFiles, variant: str) -> Documents:
    """The documents of a part as a variant of it has them."""
    layout = layout_of_variant(part.layout, files, variant)
    index = part.companions.get(layout.listing)
    if index is None and part.place is not None and layout.listing in files.safe[variant]:
        index = part.place.reader.document(layout.listing)
    assert isinstance(part.shards, Reads)
    part.shards.names = [name for name in files.safe[variant] if name.endswith(".safetensors")]
    pickled = {BIN_INDEX, *(name for names in files.pickled.values() for name in names)}  # which it is loaded without
    companions = {name: document for name, document in part.companions.items() if name not in pickled}
    others = [name for name in part.files if name not in pickled]
    return part.replace(layout=layout, index=index, files=others, companions=companions)


def _unknown(kind: str, message: str) -> Report:
    return Report(model="", verdict="unverified", error=Failure(kind=kind, message=message))


def _unread(entry: Entry, files: WeightFiles | None, contents: PartFolders, valued: bool) -> str:
    """Why the weights of a part are not compared; "" where they are.

    Args:
        valued: whether the values of a folder are asked for, of which diffusers loads pickled parts beside others;
            otherwise no word is given for what loads from a folder and not from a repo.
    """
    if files is None or not files.loads_pickled(contents.variant.get(entry.name)):
        return ""
    if not (valued or all("" in weights.pickled for weights in contents.weights.values())):
        return "its weights are pickled (.bin), while another part has none of that kind: they were not read"
    if files.sharded and entry.library != "transformers":
        return "its weights are several pickled files (.bin), which were not read"
    return ""


def _class_of(entry: Entry, config: Mapping[str, Any]) -> dict[str, Any]:
    """What the class in the index stands for in a part's config."""
    if entry.library == "diffusers" or (entry.library != "transformers" and "model_type" not in config):
        return {"_class_name": entry.kind}
    if (other := other_type(entry, config)) is not None:
        return {"architectures": [entry.kind], "model_type": other}
    return {"architectures": [entry.kind]}
