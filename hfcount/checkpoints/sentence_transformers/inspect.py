"""A model of sentence-transformers at whose root there is no model of transformers.

Its modules are each in a folder of its own, such as 0_Transformer or the routes of a Router, or the root holds one that
is no transformer, such as StaticEmbedding.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from hfcount.checkpoints.inspection import Contained, Evidence, Inspection, Options
from hfcount.checkpoints.pickled_shards import read_weights
from hfcount.errors import FetchError, UnknownArchitecture
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import CONFIG, MODULES, MODULES_LAYOUT
from hfcount.fetcher.module_files import named_modules, weight_files
from hfcount.fetcher.subfolders import below
from hfcount.fetcher.weights import Weights
from hfcount.formats.dtypes import BITS
from hfcount.formats.json import Document
from hfcount.formats.modules_json import PACKAGE, ROUTERS, TRANSFORMERS, Module
from hfcount.formats.safetensors import Header, Shard
from hfcount.report.figures import Failure
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Check, ModuleResult, Outcome
from hfcount.verifier.rules.standalone.hf009_missing_module import check_listed
from hfcount.verifier.sentence_transformers.checks import ModuleFiles, check_around

Examine = Callable[[Documents, Options], Inspection]
"""Inspects a model of transformers."""


def takes(documents: Documents) -> bool:
    """Whether its modules are the model, and what is at its root is none of transformers."""
    if documents.layout is MODULES_LAYOUT:
        return True
    if MODULES not in documents.companions:
        return False
    modules = named_modules(_read(documents), _files(documents))
    root = [module for module in modules if not module.folder]
    if any(module.package != PACKAGE or module.kind in TRANSFORMERS for module in root):
        return False
    read = any(module.holds_weights or module.kind in ROUTERS for module in root)
    return read or (not documents.shards.names and any(module.inner for module in modules))


def _read(documents: Documents) -> Mapping[str, Document]:
    """All documents by path, the one that stands for the config included."""
    return {documents.layout.config: documents.config, **documents.companions}


def _files(documents: Documents) -> Collection[str]:
    """Paths of all files there are."""
    return documents.files if documents.sizes is None else documents.sizes


def inspect(documents: Documents, options: Options, examine: Examine) -> Inspection:
    """The model, inspected: each model of transformers by itself, and all modules by their configs.

    Raises:
        FetchError: it has no config.json, and modules.json names a model of transformers at its root.
    """
    model = _Model(documents, options)
    modules = named_modules(model.read, model.files)
    if any(not module.folder and module.kind in TRANSFORMERS for module in modules):
        raise documents.place.refuse() if documents.place else FetchError("NoConfig", f"there is no {CONFIG}.")
    for module in modules:
        if module.inner:
            model.add(module, examine)
    model.read_weights()
    outcome = model.compared()
    if len(model.inner) == 1 == len(model.models):
        return _with_model(model, outcome)
    return _of_parts(model, outcome)


@dataclass(slots=True)
class _Model:
    """What was read of a model.

    Args:
        inner: its models of transformers by folder; None for one that no family describes.
        shards: the weight files of other modules that were read, by path.
        unseen: why something of it is not known.
    """

    documents: Documents
    options: Options
    inner: dict[str, Inspection | None] = field(default_factory=dict)
    shards: Mapping[str, Shard] = field(default_factory=dict)
    unseen: Failure | None = None

    @property
    def read(self) -> Mapping[str, Document]:
        """All documents by path."""
        return _read(self.documents)

    @property
    def files(self) -> Collection[str]:
        """Paths of all files there are."""
        return _files(self.documents)

    @property
    def models(self) -> dict[str, Inspection]:
        """The models of transformers that were inspected, by folder."""
        return {folder: model for folder, model in self.inner.items() if model is not None}

    @property
    def looks(self) -> bool:
        """Whether weights are to be looked at."""
        return self.options.depth != "config"

    def add(self, module: Module, examine: Examine) -> None:
        """Inspects a model of transformers; one without a config is left out, which a finding says."""
        if (documents := below(self.documents, module.folder)) is None:
            self.doubt("NotCompared", f"{printable(module.folder)} has no readable {CONFIG}")
            return
        try:
            inner = self.inner[module.folder] = examine(documents, self.options)
        except UnknownArchitecture as error:
            self.inner[module.folder] = None
            self.doubt(error.kind, str(error))
            return
        if inner.evidence.unseen:
            self.doubt(inner.evidence.unseen.kind, inner.evidence.unseen.message)

    def doubt(self, kind: str, message: str) -> None:
        """Says why something is not known; the first reason stays."""
        self.unseen = self.unseen or Failure(kind=kind, message=message)

    def read_weights(self) -> None:
        """Reads the weight files of modules, or says why not."""
        wanted, shards = weight_files(self.read, self.files), self.documents.shards
        if not wanted or not self.looks:
            return
        if self.options.depth == "index" and not shards.local and not set(wanted) <= set(shards.kept):
            text = f"{printable(wanted[0])} has no index file, and its header was not read. --depth headers reads it."
            self.doubt("NotOpened", text)
            return
        try:
            self.shards = read_weights(shards, wanted, self.options.progress)
        except FetchError as error:
            self.doubt(error.kind, str(error))
            return
        if lacking := [name for name in wanted if name not in self.shards]:
            self.doubt("NoHeaders", f"{printable(lacking[0])} could not be read")

    def compared(self) -> Outcome:
        """Compares the modules, and gathers the findings about the models."""
        outcome = Outcome()
        check_listed(self.read, self.files, outcome)
        models = {folder: model.blueprint for folder, model in self.models.items() if model.blueprint}
        rows = {folder: _row(folder, inner) for folder, inner in self.inner.items()}
        check_around(ModuleFiles(self.read, self.files, self.shards, models, rows), outcome)
        for folder, model in self.models.items():
            outcome.findings += _within(folder, model.outcome.findings)
            outcome.checks += [check._replace(text=_placed_text(folder, check.text)) for check in model.outcome.checks]
        unread = next((module for module in outcome.modules if module.agrees is None), None)
        if unread and self.looks and not any(finding.severity == "error" for finding in outcome.findings):
            self.doubt("NotCompared", f"{printable(unread.path or unread.kind)} was not compared")
        outcome.proven = self.looks and self.unseen is None
        if with_weights := [
            module for module in outcome.modules if module.tensors and module.path not in self.inner and self.shards
        ]:
            text = f"{plural(len(with_weights), 'module')} with weights, by their configs"
            agreeing = sum(module.agrees is True for module in with_weights)
            outcome.checks.append(Check("modules", len(with_weights), agreeing, text))
        return outcome


def _placed_text(folder: str, text: str) -> str:
    return printable(f"{folder}: {text}" if text else f"in {folder}")


def _within(folder: str, findings: Sequence[Finding]) -> list[Finding]:
    """The findings about a model in a folder as those of the whole."""
    return [finding.replace(file=f"{folder}/{finding.file or CONFIG}", inside=folder) for finding in findings]


def _row(folder: str, inner: Inspection | None) -> ModuleResult:
    """What is known of a model of transformers."""
    kind = TRANSFORMERS[0]
    if inner is None or inner.blueprint is None:
        agrees = None if inner is None else False
        return ModuleResult(folder, kind, agrees=agrees)
    blueprint, wrong = inner.blueprint, any(finding.severity == "error" for finding in inner.outcome.findings)
    agrees = False if wrong else True if inner.outcome.proven else None
    return ModuleResult(folder, kind, int(blueprint.total), blueprint.tensor_count, agrees=agrees)


def _with_model(model: _Model, outcome: Outcome) -> Inspection:
    """The inspection of a checkpoint with exactly one model of transformers."""
    ((folder, inner),) = model.models.items()
    old, start = inner.evidence, f"{folder}/"
    headers = None if old.headers is None else _placed(start, old.headers)
    evidence = old.replace(
        weights=_weights(model, start, old.weights) if old.weights else None,
        headers=headers,
        shards=None if old.shards is None else _placed(start, old.shards),
        others=model.shards,
        beside=[start + name for name in old.beside],
        unseen=model.unseen,
    )
    combined = inner.outcome.replace(
        checks=outcome.checks,
        findings=outcome.findings,
        proven=outcome.proven and inner.outcome.proven,
        modules=outcome.modules,
    )
    return inner._replace(documents=model.documents, evidence=evidence, outcome=combined)


def _placed(start: str, shards: Mapping[str, Shard]) -> dict[str, Shard]:
    return {start + name: shard._replace(name=start + name) for name, shard in shards.items()}


def _weights(model: _Model, start: str, old: Weights) -> Weights:
    """The weight files of a model in a folder, by their paths in the whole."""
    return old.replace(
        named=[start + name for name in old.named],
        sizes=None if old.sizes is None else {start + name: size for name, size in old.sizes.items()},
        beside=[start + name for name in old.beside],
        apart={start + name: why for name, why in old.apart.items()},
        files=model.files,
        companions=model.read,
    )


def _of_parts(model: _Model, outcome: Outcome) -> Inspection:
    """The inspection of a checkpoint of modules alone, or of several models."""
    shards = _held(model)
    counts = [module.parameters for module in outcome.modules]
    total = None if None in counts else sum(count or 0 for count in counts)
    stored, contained = _contained([shard.header for shard in shards.values() if shard.header], total)
    complete = model.looks and model.unseen is None
    if complete:
        outcome.stored, outcome.dtypes = sum(stored.values()), stored
    outcome.proven = outcome.proven and all(inner.outcome.proven for inner in model.models.values())
    listed = model.documents.sizes or {}
    evidence = Evidence(
        weights=Weights(list(shards), {name: listed.get(name) for name in shards}, files=model.files),
        others=shards,
        depth="headers" if complete or (model.looks and shards) else "config",
        unseen=model.unseen,
        contained=contained if shards else None,
    )
    return Inspection(model.documents, model.options, {}, None, (), evidence, outcome)


def _contained(headers: Sequence[Header], total: int | None) -> tuple[dict[str, int], Contained]:
    """Elements by dtype, and what there is in all; `total` are the elements that the configs describe."""
    stored, sizes = Counter[str](), Counter[str]()
    for entry in (entry for header in headers for entry in header.tensors.values()):
        elements = prod(entry.shape)
        stored[entry.dtype] += elements
        sizes[entry.dtype] += (elements * BITS[entry.dtype] + 7) // 8
    tensors = sum(len(header.tensors) for header in headers)
    return dict(stored), Contained(len(headers), len(headers), tensors, dict(sizes), total)


def _held(model: _Model) -> dict[str, Shard]:
    """All weight files that were read and can be, by path."""
    read = dict(model.shards)
    for folder, inner in model.models.items():
        read |= _placed(f"{folder}/", inner.evidence.headers or {})
    return {path: shard for path, shard in read.items() if shard.header}
