"""Checks of the modules that sentence-transformers puts around a model: settings, tensors, and widths from one on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from hfcount.errors import DocumentError
from hfcount.fetcher.interface import MODULES, is_inside
from hfcount.formats.json import parse_object
from hfcount.formats.modules import PACKAGE, ROUTERS, TRANSFORMERS, Module, read_modules, read_router
from hfcount.formats.safetensors import Entry
from hfcount.modules.chain import State, begun, joined, wrong_widths
from hfcount.modules.classes import SENTENCE, TOKENS, Layout, Shape, layout
from hfcount.verifier import headers
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import ModuleResult, Outcome, finding_of
from hfcount.verifier.folding import fold


def check_modules(c: Comparison, outcome: Outcome) -> None:
    """HF801 to HF806: each module by its settings, and the widths of what one gives and the next reads."""
    try:
        listed = read_modules(c.weights.companions[MODULES])
    except DocumentError:  # HF009 says it
        return
    headers.check_shards(c, [shard for _, shard in sorted(c.modules.items())], outcome)
    walk = _Walk(c, outcome, {})
    walk.through(listed, State())
    outcome.modules = tuple(walk.results.values())


@dataclass(frozen=True, slots=True)
class _Walk:
    """The way of a text through the modules; `results` are those that were met, by folder and class."""

    c: Comparison
    outcome: Outcome
    results: dict[Module, ModuleResult]

    def through(self, modules: Sequence[Module], state: State, within: int = 0) -> State:
        """The features after these modules."""
        for module in modules:
            if module.package == PACKAGE and module.kind in ROUTERS:
                state = self._routed(module, state, within)
            elif module.package == PACKAGE and module.kind in TRANSFORMERS:
                state = self._transformed(module)
            else:
                state = self._stepped(module, state)
        return state

    def _routed(self, module: Module, state: State, within: int) -> State:
        document = self.c.weights.companions.get(module.settings(self.c.weights.files))
        if document is None or within > _ROUTERS:
            return state.unknown()
        try:
            routes = read_router(document, module.folder)
        except DocumentError as error:
            self.outcome.report(finding_of(error, module.settings(self.c.weights.files)))
            return state.unknown()
        return joined([self.through(modules, state, within + 1) for modules in routes.values()])

    def _transformed(self, module: Module) -> State:
        """The features that a transformer gives; of one in a folder of its own the widths are not known."""
        settings = self._settings(module)
        if settings is None:
            return State().unknown()
        task, feature = settings.get("transformer_task", _TASK.get(module.kind)), settings.get("module_output_name")
        if module.folder or module.kind == "CLIPModel" or feature not in (None, TOKENS):
            return begun(None, feature if isinstance(feature, str) else _FEATURE.get(module.kind, TOKENS), module.label)
        spec = self.c.blueprint.spec
        width = None if spec.parts else {None: spec.hidden, "feature-extraction": spec.hidden}.get(task)
        return begun(int(width) if width else None, TOKENS, module.label)

    def _settings(self, module: Module) -> Mapping[str, Any] | None:
        """The settings of a module, empty if it has none; None if they were not read, or cannot be."""
        name, files = module.settings(self.c.weights.files), self.c.weights.files
        if name not in files:
            return {}
        document = self.c.weights.companions.get(name)
        if document is None:
            return None
        try:
            return parse_object(document)
        except DocumentError as error:
            self.outcome.report(finding_of(error, name))
            return None

    def _stepped(self, module: Module, state: State) -> State:
        """The features after a module that is no transformer."""
        seen = module in self.results
        self.results.setdefault(module, ModuleResult(module.folder, module.kind))
        settings = self._settings(module) if module.package == PACKAGE and is_inside(module.folder or ".x") else None
        if settings is None:
            return state.unknown()
        try:
            built = layout(module.kind, module.settings(self.c.weights.files), settings)
        except DocumentError as error:
            if not module.lacks(self.c.weights.files) and not seen:
                self.outcome.report(finding_of(error, MODULES))
            return state.unknown()
        if built is None:
            return state.unknown()
        shard = self.c.modules.get(module.weights)
        stored = shard.header.tensors if shard and shard.header else None
        agrees = _compared(module, built, stored, self) if not seen else self.results[module].agrees
        after = state.after(module.label, built, _by(built, stored))
        if agrees is not False:
            self._check_input(module, built, state)
        self._keep(module, built, stored, agrees, after)
        return after

    def _check_input(self, module: Module, built: Layout, state: State) -> None:
        """HF804 to HF806: what a module reads is there, and as wide as it has to be."""
        if built.reads and state.lacks(built.reads):
            from hfcount.verifier.rules.hf805_module_input_missing import ModuleInputMissing

            there = tuple(sorted(state.features))
            file = module.settings(self.c.weights.files)
            self.outcome.report(
                ModuleInputMissing(file=file, label=module.label, expected=built.reads, observed=there)
            )
            return
        source, file = state.sources.get(built.reads, ""), module.settings(self.c.weights.files)
        for width in wrong_widths(state, built)[:1]:
            from hfcount.verifier.rules.hf804_module_width_differs import ModuleWidthDiffers

            self.outcome.report(
                ModuleWidthDiffers(
                    file=file, key=built.key, label=module.label, source=source, expected=built.width, observed=width
                )
            )
        given = state.width(built.reads)
        if built.declared and given is not None and given != {built.declared}:
            from hfcount.verifier.rules.hf806_pooling_width_differs import PoolingWidthDiffers

            width = min(given - {built.declared})
            key = "embedding_dimension"
            self.outcome.report(PoolingWidthDiffers(file=file, key=key, expected=width, observed=built.declared))

    def _keep(
        self, module: Module, built: Layout, stored: Mapping[str, Entry] | None, agrees: bool | None, after: State
    ) -> None:
        shapes = [entry.shape for entry in (stored or {}).values()]
        if agrees is None and not any(None in shape for shape in built.tensors.values()):
            shapes = [tuple(side for side in shape if side is not None) for shape in built.tensors.values()]
        known = stored is not None or len(shapes) == len(built.tensors)
        width = after.width(SENTENCE) or after.width(TOKENS) or ()
        self.results[module] = ModuleResult(
            module.folder,
            module.kind,
            sum(map(prod, shapes)) if known else None,
            len(shapes) if known else None,
            next(iter(width)) if len(width) == 1 else None,
            agrees,
        )


_ROUTERS = 4  # within each other
_TASK = {"MLMTransformer": "fill-mask"}
_FEATURE = {"CLIPModel": SENTENCE}


def _by(built: Layout, stored: Mapping[str, Entry] | None) -> int | None:
    """The width that a stored tensor tells."""
    if built.by is None or stored is None:
        return None
    name, axis = built.by
    entry = stored.get(name) or stored.get(built.second.get(name, ""))
    return entry.shape[axis] if entry and len(entry.shape) > axis else None


def _compared(module: Module, built: Layout, stored: Mapping[str, Entry] | None, walk: _Walk) -> bool | None:
    """HF802, HF803: whether the file of a module holds what its settings say; None if it was not read."""
    if not built.tensors:
        return True
    if stored is None:
        return None
    names = {name: name if name in stored else built.second.get(name, name) for name in built.tensors}
    facts = {
        "file": module.weights,
        "kind": module.kind,
        "settings": module.settings(walk.c.weights.files),
    }
    lacking = tuple(name for name, known in names.items() if known not in stored)
    beyond = tuple(sorted(stored.keys() - names.values())) if built.exact else ()
    if lacking or beyond:
        from hfcount.verifier.rules.hf802_module_tensors_differ import ModuleTensorsDiffer

        rows = tuple(fold([*lacking, *beyond]))
        count = len(lacking) + len(beyond)
        walk.outcome.report(ModuleTensorsDiffer(**facts, lacking=lacking, beyond=beyond, tensors=rows, count=count))
    differing = [
        (known, shape, stored[known].shape)
        for name, known in names.items()
        if known in stored and not _fits(stored[known].shape, shape := built.tensors[name])
    ]
    if differing:
        from hfcount.verifier.rules.hf803_module_shape_differs import ModuleShapeDiffers

        (first, shape, found), tensors = differing[0], tuple(fold(known for known, _, _ in differing))
        walk.outcome.report(
            ModuleShapeDiffers(
                **facts, expected=_written(shape), observed=found, tensors=(first, *tensors[1:]), count=len(differing)
            )
        )
    return not (lacking or beyond or differing)


def _fits(found: tuple[int, ...], shape: Shape) -> bool:
    return len(found) == len(shape) and all(side in (None, one) for one, side in zip(found, shape, strict=True))


def _written(shape: Shape) -> str:
    """A shape, such as 12×24, or any×any."""
    return "×".join("any" if side is None else str(side) for side in shape)
