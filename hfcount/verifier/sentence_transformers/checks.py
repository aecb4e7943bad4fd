"""Checks the configs, tensors and widths of the modules around a model."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.errors import DocumentError
from hfcount.fetcher.layout import MODULES
from hfcount.formats.json import Document, parse_object
from hfcount.formats.modules_json import KIND, PACKAGE, PYLATE, ROUTERS, TRANSFORMERS, Module, read_modules, read_router
from hfcount.formats.safetensors import Shard
from hfcount.text import shown
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import ModuleResult, Outcome, finding_of
from hfcount.verifier.headers import check_shards
from hfcount.verifier.loaders import loader
from hfcount.verifier.sentence_transformers.chain import Features, begun, joined, wrong_widths
from hfcount.verifier.sentence_transformers.classes import SENTENCE, TOKENS, ModuleLayout, known, layout
from hfcount.verifier.sentence_transformers.references import is_importable
from hfcount.verifier.sentence_transformers.settings import Settings
from hfcount.verifier.sentence_transformers.tensors import ModuleWeights, check_tensors
from hfcount.verifier.sentence_transformers.transformers import running

_ROUTERS = 4  # within each other
_PROMPTS = ("query", "document")  # names of prompts that every model but a CrossEncoder has
_LATE = ("MultiVectorEncoder", "ColBERT")


@dataclass(frozen=True, slots=True)
class ModuleFiles:
    """The files of the modules of a model.

    Args:
        documents: modules.json and the modules' configs, by path.
        files: paths of all files there are.
        shards: the weight files of modules that were read, by path.
        models: the models of transformers that they run, by folder, as far as they are described.
        rows: what is known of those in folders of their own, by folder.
    """

    documents: Mapping[str, Document]
    files: Collection[str]
    shards: Mapping[str, Shard]
    models: Mapping[str, Blueprint] = field(default_factory=dict)
    rows: Mapping[str, ModuleResult] = field(default_factory=dict)


def check_modules(c: Comparison, outcome: Outcome) -> None:
    """As `check_around` has it, of modules around a model that is compared."""
    check_around(ModuleFiles(c.weights.companions, c.weights.files, c.modules, {"": c.blueprint}), outcome)


def check_around(around: ModuleFiles, outcome: Outcome) -> None:
    """HF801 to HF807: each module by its config, and the widths of what one gives and the next reads."""
    try:
        listed = read_modules(around.documents[MODULES])
    except DocumentError:  # HF009 says it
        return
    check_shards(None, [shard for _, shard in sorted(around.shards.items())], outcome)
    walk = _Walk(around, outcome, {})
    walk.check_end(walk.through(listed, Features()))
    outcome.modules = tuple(walk.results.values())


def _release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version; empty where it does not begin with such."""
    match = re.match(r"(\d{1,9})\.(\d{1,9})", version)
    return tuple(map(int, match.groups())) if match else ()


@dataclass(frozen=True, slots=True)
class _Walk:
    """The way of a text through the modules; `results` are those that were met."""

    around: ModuleFiles
    outcome: Outcome
    results: dict[Module, ModuleResult]

    def through(self, modules: Sequence[Module], state: Features, within: int = 0) -> Features:
        """The features after these modules."""
        for module in modules:
            if not is_importable(module):
                self._report_path(module)
                state = state.unknown()
            elif not module.described:
                self._foreign(module)
                state = state.unknown()
            elif module.kind in ROUTERS:
                state = self._routed(module, state, within)
            elif module.kind in TRANSFORMERS:
                state = self._transformed(module)
            else:
                state = self._passed(module, state)
        return state

    def _report_path(self, module: Module) -> None:
        """HF807 of a class that is nowhere; a version that is newer than what is known may have it."""
        from hfcount.verifier.rules.hf807_unknown_module_class import UnknownModuleClass

        self.results.setdefault(module, ModuleResult(module.folder, module.kind))
        newer = module.package == PACKAGE and self._is_newer()
        self.outcome.report(
            UnknownModuleClass(
                severity="note" if newer else "error",
                file=MODULES,
                label=module.label or str(module.reference) or MODULES,
                observed=module.kind,
                path=module.reference,
            )
        )

    def _is_newer(self) -> bool:
        """Whether a version of sentence-transformers saved the model that is newer than the one that is known."""
        versions = (self._parsed(KIND) or {}).get("__version__")
        saved = versions.get(PACKAGE) if isinstance(versions, dict) else None
        return isinstance(saved, str) and _release(saved) > _release(loader.SENTENCE_TRANSFORMERS)

    def _foreign(self, module: Module) -> None:
        """HF807 of a class that is code of the repo's own, or of another library, and holds weights."""
        self.results.setdefault(module, ModuleResult(module.folder, module.kind))
        if module.stored(self.around.files):
            self._report_unknown(module, foreign=True)

    def check_end(self, state: Features) -> None:
        """HF805: the modules of a model that gives embeddings give one. HF801: its default prompt is one of its own."""
        values = self._parsed(KIND)
        kind = None if values is None else values.get("model_type", "SentenceTransformer")
        if values is not None:
            self._check_prompts(values, kind)
            self._check_cut(values, kind)
        if kind in ("SentenceTransformer", "SparseEncoder") and state.lacks(SENTENCE):
            self._report_missing(MODULES, str(kind), SENTENCE, state)

    def _check_prompts(self, values: Mapping[str, Any], kind: object) -> None:
        """HF801: sentence-transformers 6.2, base/model.py, _parse_model_config and _validate_prompts."""
        prompts, name = values.get("prompts", {}), values.get("default_prompt_name")
        settings = Settings(str(kind), KIND, values)
        if prompts is None and kind in _LATE:
            prompts = {}
        if not isinstance(prompts, dict):
            error = settings.refused(f"has {shown(prompts)} for prompts, but must give an object", "prompts")
            self.outcome.report(finding_of(error, KIND))
        elif name is not None and name not in (*prompts, *(() if kind == "CrossEncoder" else _PROMPTS)):
            text = f"has {shown(name)} for default_prompt_name, and prompts has none of that name"
            self.outcome.report(finding_of(settings.refused(text, "default_prompt_name", "Correct either."), KIND))

    def _check_cut(self, values: Mapping[str, Any], kind: object) -> None:
        """HF801: to how many numbers an embedding is cut (sentence-transformers 6.2, encode, _parse_model_config)."""
        key = {"SentenceTransformer": "truncate_dim", "SparseEncoder": "max_active_dims"}.get(str(kind))
        value = values.get(key) if key else None
        if key and value is not None and not isinstance(value, int):
            error = Settings(str(kind), KIND, values).refused(
                f"has {shown(value)} for {key}, but must give a number", key
            )
            self.outcome.report(finding_of(error, KIND))

    def _routed(self, module: Module, state: Features, within: int) -> Features:
        file = self._config(module)
        document = self._document(file)
        if document is None or within > _ROUTERS:
            return state.unknown()
        try:
            routes = read_router(document, module.folder)
        except DocumentError as error:
            self.outcome.report(finding_of(error, file))
            return state.unknown()
        return joined([self.through(modules, state, within + 1) for modules in routes.values()])

    def _transformed(self, module: Module) -> Features:
        """The features that a model of transformers gives."""
        width = self._width(module.folder)
        if row := self.around.rows.get(module.folder):
            self.results.setdefault(module, row.replace(width=width))
        file = self._config(module)
        values = self._parsed(file)
        if values is None:
            return Features().unknown()
        try:
            run = running(module.kind, file, values)
        except DocumentError as error:
            self.outcome.report(finding_of(error, file))
            return Features().unknown()
        usual = run.plain and run.feature == TOKENS
        return begun(width if usual else None, run.feature, module.label)

    def _width(self, folder: str) -> int | None:
        """The width of the model's last layer; None where an embedding of another width, or a part, may change it."""
        model = self.around.models.get(folder)
        if model is None:
            return None
        spec = model.spec
        words = {tuple(map(int, leaf.shape)) for leaf in model.leaves if leaf.component == "embedding"}
        return int(spec.hidden) if not spec.parts and (int(spec.vocab), int(spec.hidden)) in words else None

    def _passed(self, module: Module, state: Features) -> Features:
        """The features after a module that is no transformer and no router."""
        first = self.results.setdefault(module, ModuleResult(module.folder, module.kind))
        built = self._layout(module)
        if built is None:
            return state.unknown()
        file = module.weights(self.around.files)
        shard = self.around.shards.get(file)
        header = shard.header if shard else None
        stored = ModuleWeights(module, self._config(module), file, built, header.tensors if header else None)
        agrees = check_tensors(stored, self.outcome) if first.tensors is None else first.agrees
        after = state.after(module.label, built, stored.width)
        if agrees is not False:
            self._check_input(module, built, state)
        width, shapes = after.width(SENTENCE) or after.width(TOKENS) or (), stored.shapes
        self.results[module] = ModuleResult(
            module.folder,
            module.kind,
            None if shapes is None else sum(map(prod, shapes)),
            None if shapes is None else len(shapes),
            min(width) if len(width) == 1 else None,
            agrees,
        )
        return after

    def _layout(self, module: Module) -> ModuleLayout | None:
        """The layout of a module; None if its config is unread or invalid, or its class is unknown."""
        file = self._config(module)
        if not known(module.kind):
            self._report_unknown(module)
            return None
        values = self._parsed(file)
        if values is None:
            return None
        if module.package == PYLATE:
            values = {"module_input_name": TOKENS, **values}
        try:
            return layout(module.kind, file, values)
        except DocumentError as error:
            if not module.lacks(self.around.files):  # else HF009 says it
                self.outcome.report(finding_of(error, file))
            return None

    def _report_unknown(self, module: Module, foreign: bool = False) -> None:
        """HF807."""
        from hfcount.verifier.rules.hf807_unknown_module_class import UnknownModuleClass

        kind = f"{module.package}'s {module.kind}" if foreign else module.kind
        finding = UnknownModuleClass(file=MODULES, label=module.label, observed=kind, foreign=foreign)
        self.outcome.report(finding)

    def _check_input(self, module: Module, built: ModuleLayout, state: Features) -> None:
        """HF804 to HF806: what a module reads is there, and as wide as it has to be."""
        file, given = self._config(module), state.width(built.reads)
        begins = state.complete and not state.features and not built.gives  # with a module that reads no text
        lacking = next((name for name in (built.reads, built.needs) if name and state.lacks(name)), "")
        if begins or lacking:
            self._report_missing(file, module.label, lacking or built.reads or SENTENCE, state)
        for width in wrong_widths(state, built)[:1]:
            from hfcount.verifier.rules.hf804_module_width_differs import ModuleWidthDiffers

            self.outcome.report(
                ModuleWidthDiffers(
                    file=file,
                    key=built.key,
                    expected=built.width or 0,
                    observed=width,
                    label=module.label,
                    source=state.sources.get(built.reads, ""),
                )
            )
        if built.declared is not None and given and any(read_width != built.declared for read_width in given):
            from hfcount.verifier.rules.hf806_pooling_width_differs import PoolingWidthDiffers

            key, width = "embedding_dimension", min(read_width for read_width in given if read_width != built.declared)
            self.outcome.report(PoolingWidthDiffers(file=file, key=key, expected=width, observed=shown(built.declared)))

    def _report_missing(self, file: str, label: str, feature: str, state: Features) -> None:
        from hfcount.verifier.rules.hf805_module_input_missing import ModuleInputMissing

        there = tuple(sorted(state.features))
        self.outcome.report(ModuleInputMissing(file=file, label=label, expected=feature, observed=there))

    def _config(self, module: Module) -> str:
        """The file of a module's config."""
        return module.config(self.around.files)

    def _document(self, file: str) -> Document | None:
        return self.around.documents.get(file)

    def _parsed(self, file: str) -> Mapping[str, Any] | None:
        """A document, empty if there is none; None if it was not read, or cannot be."""
        if file not in self.around.files:
            return {}
        document = self._document(file)
        try:
            return None if document is None else parse_object(document)
        except DocumentError as error:
            self.outcome.report(finding_of(error, file))
            return None
