"""The expected tensors of an adapter, by its settings and the modules of its base."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hfcount.checkpoints.adapter.methods import METHODS, OBJECTS, VARIANTS, AdaptedModule, Method, Shape
from hfcount.checkpoints.adapter.modules import ModuleSet, containers
from hfcount.checkpoints.adapter.rewrite import Rewrite, rewritten
from hfcount.checkpoints.adapter.settings import Settings
from hfcount.checkpoints.adapter.targets import (
    ALL_LINEAR,
    ChosenModules,
    Parameter,
    Patterns,
    Ranks,
    Refused,
    Target,
    Unread,
    choose,
)
from hfcount.text import printable
from hfcount.verifier.loaders.labels import PEFT

_MANY = 1_000_000  # tensors of an adapter
_EMBEDDINGS = ("embed_tokens", "lm_head")
_TOKENS = "token_adapter.trainable_tokens_delta"
# What each method puts into every module besides what it stores there (peft 0.21, tuners/*/layer.py).
_FURTHER = {
    "LORA": "lora_dropout lora_embedding_A lora_embedding_B lora_magnitude_vector",
    "ADALORA": "lora_dropout lora_embedding_A lora_embedding_B lora_magnitude_vector ranknum",
    "LOHA": "hada_t1 hada_t2",
    "LOKR": "lokr_w1 lokr_w1_a lokr_w1_b lokr_w2 lokr_w2_a lokr_w2_b lokr_t2",
    "VERA": "vera_dropout",
    "OFT": "oft_dropout oft_embedding_R",
    "VBLORA": "vblora_dropout",
    "BOFT": "boft_dropout",
    "MISS": "miss_dropout",
    "HIRA": "hira_dropout hira_embedding_A hira_embedding_B",
    "DELORA": "delora_dropout",
}
_HEADS = {"SEQ_CLS": ("classifier", "score"), "TOKEN_CLS": ("classifier", "score"), "QUESTION_ANS": ("qa_outputs",)}


@dataclass(slots=True)
class ExpectedAdapter:
    """The expected tensors of an adapter.

    Args:
        tensors: the shapes that must be there, in elements, by the name in memory without PEFT's prefix.
        shared: those without a module, by the whole name.
        optional: shapes of what may be there besides.
        turned: shapes of what may be there as it is for experts that are stored as inputs by outputs.
        ranks: the rank of each module, by its path.
        at_rank: gives the shapes of a module's tensors at a rank, by the module's path.
        heads: names of tensors of a head, whose rows are the labels of the task.
        roots: the paths of modules that are stored whole.
        unmatched: names in the settings that are nothing in the base.
        adapted: how many modules and parameters are adapted.
    """

    tensors: dict[str, Shape] = field(default_factory=dict)
    shared: dict[str, Shape] = field(default_factory=dict)
    optional: dict[str, Shape] = field(default_factory=dict)
    turned: dict[str, Shape] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    at_rank: dict[str, Callable[[int], Mapping[str, Shape]]] = field(default_factory=dict)
    heads: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    unmatched: tuple[str, ...] = ()
    adapted: int = 0


def expect(settings: Settings, modules: Sequence[ModuleSet], rewrite: Rewrite | None, vocab: int) -> ExpectedAdapter:
    """The expected tensors of an adapter of modules.

    Args:
        modules: of the base.
        rewrite: how PEFT rewrites the targets for this base; None if it does not.
        vocab: rows of the base's embedding.

    Raises:
        Unread: the settings are beyond what is read.
        Refused: PEFT refuses them for this base.
    """
    method = METHODS[settings.method]
    patterns = Patterns()
    _check_variants(settings)
    if settings.targets is None and not settings.parameters:
        raise Unread(
            f"{settings.where} names no target_modules, and hfcount does not know what {PEFT} chooses for this type"
        )
    everything = [*modules, *containers(modules)]
    if rewrite is not None:
        settings = rewritten(settings, rewrite, everything, patterns)
    chosen = choose(settings, everything, patterns)
    work = _Work(settings, method, modules, everything, patterns, Ranks(settings, patterns))
    work.adapt(chosen)
    if method.saves:
        work.check_saved()
        saved(settings, modules, work.expected)
    work.tokens(vocab)
    work.ties(chosen)
    work.biases(chosen)
    work.embeddings(chosen, vocab)
    expected = work.expected
    expected.unmatched = (*chosen.unmatched, *expected.unmatched)
    return expected


def _check_variants(settings: Settings) -> None:
    for key in VARIANTS.get(settings.method, ()):
        value = settings.values.get(key)
        if value or (isinstance(value, dict) and key in OBJECTS):
            raise Unread(f"{settings.where} sets {key}, and hfcount does not know what tensors that adds")


def _of_experts(experts: int, inputs: int, outputs: int, rank: int) -> Mapping[str, Shape]:
    """The shapes of a LoRA of a parameter that stacks experts, or of a matrix as one expert."""
    return {"lora_A.weight": (rank * experts, inputs), "lora_B.weight": (outputs, rank * experts)}


@dataclass(frozen=True, slots=True)
class _Work:
    settings: Settings
    method: Method
    modules: Sequence[ModuleSet]
    everything: Sequence[ModuleSet]
    patterns: Patterns
    ranks: Ranks
    expected: ExpectedAdapter = field(default_factory=ExpectedAdapter)
    within: set[str] = field(default_factory=set)  # the paths of what the method puts into modules

    def adapt(self, chosen: ChosenModules) -> None:
        """The tensors of the method itself."""
        adapted: list[ModuleSet] = []
        for target in chosen.targets:
            rank = self._rank(target.path)
            if target.module.kind not in self.method.kinds:
                raise Refused(_unsupported(target))
            shapes = self._add(target.path, partial(self._shapes, target), rank)
            adapted.append(target.module)
            if "trainable_tokens_delta" in shapes:
                self._share(target.module, "trainable_tokens_delta", shapes["trainable_tokens_delta"])
        for parameter in chosen.parameters:
            self._add_parameter(parameter)
        if self.method.shared:
            shared = self.method.shared(adapted, self.settings)
            self.expected.shared.update({f"base_model.{name}": shape for name, shape in shared.items()})
            self.within.update(name.partition(".")[0] for name in shared)
        if not self.expected.adapted:
            raise Refused(_nothing(self.settings))

    def _rank(self, path: str) -> int:
        key, default = self.method.rank
        if self.settings.method == "ADALORA":
            pruned = self.settings.ranks.get(f"base_model.model.{path}.lora_E")
            if isinstance(pruned, list):
                return sum(1 for kept in pruned if kept is True)
            return self.settings.number(key, default)
        if not default:
            return self.settings.number(key, default, least=0)
        return self.ranks.of(path, self.settings.number(key, default))

    def _shapes(self, target: Target, rank: int) -> Mapping[str, Shape]:
        return self.method.tensors(AdaptedModule(target.path, target.module, self.settings, rank, self.patterns))

    def _add(self, path: str, at_rank: Callable[[int], Mapping[str, Shape]], rank: int) -> Mapping[str, Shape]:
        shapes = at_rank(rank)
        self.expected.adapted += 1
        self.expected.ranks[path] = rank
        self.expected.at_rank[path] = at_rank
        inside = {end.partition(".")[0] for end in shapes} | {
            "base_layer",
            *_FURTHER.get(self.settings.method, "").split(),
        }
        self.within.update(f"{path}.{name}" for name in inside)
        self.expected.tensors.update({f"{path}.{end}": shape for end, shape in shapes.items()})
        if len(self.expected.tensors) > _MANY:
            raise Unread(f"the settings name more than {_MANY:,} tensors")
        return shapes

    def check_saved(self) -> None:
        """Refuses names of modules to store that end what the method itself has put into modules.

        PEFT looks for them when these are there (peft 0.21, utils/other.py: _set_trainable).
        """
        for name in self.settings.saved:
            if own := min((path for path in self.within if path.endswith(name)), default=""):
                raise Refused(
                    f"modules_to_save names {printable(name, 60)}, which {printable(own)} ends with, and that is of the"
                    f" adapter itself: {PEFT} refuses that"
                )

    def _add_parameter(self, parameter: Parameter) -> None:
        shape, path = parameter.shape, f"{parameter.path}.{parameter.inside}".removesuffix(".")
        if len(shape) not in (2, 3):
            raise Refused(
                f"target_parameters names {printable(parameter.path)}.{printable(parameter.name)}, which has"
                f" {len(shape)} dimensions, but {PEFT} adapts only 2 or 3"
            )
        rank = self.ranks.of(f"{parameter.path}.{parameter.name}", self.settings.number("r", 8))
        experts = shape[0] if len(shape) == 3 else 1
        ways = [partial(_of_experts, experts, *sides) for sides in ((shape[-1], shape[-2]), (shape[-2], shape[-1]))]
        if parameter.bias == shape[-1]:  # experts as inputs by outputs
            ways.reverse()
        self._add(path, ways[0], rank)
        if len(shape) == 3 and parameter.bias is None:
            self.expected.turned.update({f"{path}.{name}": way for name, way in ways[1](rank).items()})

    def tokens(self, vocab: int) -> None:
        """Rows of embeddings that are trained beside LoRA."""
        wanted = self.settings.values.get("trainable_token_indices")
        if not wanted:
            return
        if isinstance(wanted, list):
            table = embedding(self.modules, vocab)
            wanted = {table.first: wanted} if table else {}
        if not isinstance(wanted, dict):
            raise Unread("trainable_token_indices is neither a list nor an object of lists")
        lengths: dict[str, Any] = {}
        for name, rows in wanted.items():
            for module in self.modules:
                if module.first.endswith(name) and module.weight and isinstance(rows, list):
                    lengths[module.first] = rows
        for module in self.modules:
            rows = lengths.get(module.first)
            if rows is not None and not (module.tied and rows == self._rows_of_table(module, lengths)):
                shape = (len(rows), module.weight[-1])
                self.expected.tensors[f"{module.first}.{_TOKENS}"] = shape
                self._share(module, _TOKENS, shape)
        self._wrap_saved({*lengths})

    def _rows_of_table(self, module: ModuleSet, lengths: Mapping[str, Any]) -> Any:
        """The rows that are trained of the module whose weight another has; None if none are."""
        return next((rows for path, rows in lengths.items() if self._is_table(path, module)), None)

    def _is_table(self, path: str, module: ModuleSet) -> bool:
        """Whether a module has the weight of that at a path, which may lack the base model's name."""
        return module.tied and (f".{module.tied_to}".endswith(f".{path}") or f".{path}".endswith(f".{module.tied_to}"))

    def _wrap_saved(self, tables: set[str]) -> None:
        """Puts modules that are stored whole inside the trained rows of the table whose weight they have."""
        for module in self.modules:
            if module.tied and any(self._is_table(table, module) for table in tables):
                for end in module.tensors:
                    shape = self.expected.tensors.pop(f"{module.first}.{end}", None)
                    if shape is not None:
                        self.expected.tensors[f"{module.first}.token_adapter.base_layer.{end}"] = shape

    def _share(self, table: ModuleSet, end: str, shape: Shape) -> None:
        """Adds tensors that PEFT may store again for modules that share the weight of a table."""
        end_shapes = {f"{module.first}.{end}": shape for module in self._sharing(table)}
        known = self.expected.tensors
        self.expected.optional.update({name: shape for name, shape in end_shapes.items() if name not in known})

    def _sharing(self, table: ModuleSet) -> list[ModuleSet]:
        """The other modules with the weight of a table or of the table's own table."""
        others = [module for module in self.modules if module.weight == table.weight and module.first != table.first]
        return [module for module in others if module.tied or self._is_table(module.first, table)]

    def ties(self, chosen: ChosenModules) -> None:
        """What PEFT adds to modules that share the weight of an adapted one, where it keeps them tied."""
        if not self.settings.flag("ensure_weight_tying"):
            return
        for target in chosen.targets:
            for module in self._sharing(target.module) if target.module.count == 1 else ():
                rank = self._rank(target.path)
                adapted = AdaptedModule(module.first, module, self.settings, rank, self.patterns)
                if module.kind in self.method.kinds:
                    shapes = {f"{module.first}.{end}": shape for end, shape in self.method.tensors(adapted).items()}
                    self.expected.optional.update(shapes)
                    weight = f"{module.first}.base_layer.weight"
                    self.expected.optional[weight] = module.weight
        for module in self.modules:
            if f"{module.first}.weight" in self.expected.tensors:
                self._share(module, "weight", module.weight)

    def biases(self, chosen: ChosenModules) -> None:
        """Biases of the base that are stored."""
        which = self.settings.text("bias", "none")
        if which == "none":
            return
        adapted = {target.path for target in chosen.targets}
        for path, shape in self._bias_shapes():
            if path in adapted:
                self.expected.tensors[f"{path}.base_layer.bias"] = shape
            elif which == "all" and f"{path}.bias" in self.expected.tensors:
                root = next(start for start in beginnings(path) if start in self.expected.roots)
                for wrapper in ("modules_to_save", "modules_to_save.default", "original_module"):
                    self.expected.optional[f"{root}.{wrapper}{path.removeprefix(root)}.bias"] = shape
            elif which == "all":
                self.expected.tensors[f"{path}.bias"] = shape

    def _bias_shapes(self) -> Iterator[tuple[str, Shape]]:
        for module in self.modules:
            if "bias" in module.tensors:
                for path in module.paths():
                    yield path, module.tensors["bias"]
            elif module.tied and module.kind == "linear":  # some have the bias of the module around them twice
                self.expected.optional[f"{module.first}.bias"] = (module.outputs,)

    def embeddings(self, chosen: ChosenModules, vocab: int) -> None:
        """Embeddings that are stored beside what adapts them, and those of a vocabulary that may have grown."""
        adapted = {target.path for target in chosen.targets}
        tables = [module for module in (embedding(self.modules, vocab), output(self.modules)) if module]
        targeted = _names_embeddings(self.settings, adapted)
        for module in tables:
            for name, shape in module.tensors.items():
                if module.first in adapted and targeted:
                    self.expected.optional[f"{module.first}.base_layer.{name}"] = shape


def saved(settings: Settings, modules: Sequence[ModuleSet], expected: ExpectedAdapter) -> None:
    """Adds modules that are stored whole, and all that are inside them.

    Raises:
        Unread: they are looked for in too many.
    """
    heads = _HEADS.get(settings.task or "", ())
    missing = []
    for name in dict.fromkeys((*settings.saved, *heads)):
        roots = {path for path in _paths(name, modules) if path.endswith(name)}
        if not roots and name not in heads:
            missing.append(name)
        for path, module in _inside(roots, modules):
            names = {f"{path}.{end}": shape for end, shape in module.tensors.items()}
            expected.tensors.update(names)
            expected.heads.update(names if name in heads else ())
        expected.roots |= roots
    expected.unmatched = tuple(missing)


def _paths(name: str, modules: Sequence[ModuleSet]) -> Iterator[str]:
    """The paths of all modules that may end with a name."""
    numbered = any(segment.isdecimal() for segment in name.split("."))
    for module in (*modules, *containers(modules)):
        if numbered or module.first.endswith(name):
            _check_many(module.count)
            yield from module.paths()


def _inside(roots: set[str], modules: Sequence[ModuleSet]) -> Iterator[tuple[str, ModuleSet]]:
    for module in modules if roots else ():
        _check_many(module.count)
        yield from ((path, module) for path in module.paths() if not roots.isdisjoint(beginnings(path)))


def _check_many(count: int) -> None:
    if count > _MANY:
        raise Unread(f"modules_to_save is looked for in more than {_MANY:,} modules")


def _names_embeddings(settings: Settings, adapted: set[str]) -> bool:
    if isinstance(settings.targets, str):
        last = {path.rpartition(".")[2] for path in adapted}
        return settings.targets.lower() != ALL_LINEAR and not last.isdisjoint(_EMBEDDINGS)
    return not set(_EMBEDDINGS).isdisjoint(settings.targets or ())


def embedding(modules: Sequence[ModuleSet], vocab: int) -> ModuleSet | None:
    """The table of the vocabulary."""
    tables = [module for module in modules if module.kind == "embedding" and not module.tied]
    return next((module for module in tables if module.weight[:1] == (vocab,)), None)


def output(modules: Sequence[ModuleSet]) -> ModuleSet | None:
    """The output embedding."""
    return next((module for module in modules if module.head and len(module.weight) == 2), None)


def beginnings(path: str) -> list[str]:
    """The path, and what stands before each of its dots."""
    result, place = [path], path.rfind(".")
    while place >= 0:
        result.append(path[:place])
        place = path.rfind(".", 0, place)
    return result


def _unsupported(target: Target) -> str:
    what = (
        "holds other modules"
        if target.module.kind == "container"
        else "is a kind of module that this method does not adapt"
    )
    return f"target_modules names {printable(target.path)}, which {what}: {PEFT} refuses that"


def _nothing(settings: Settings) -> str:
    names = (
        settings.targets if isinstance(settings.targets, str) else ", ".join(settings.targets or settings.parameters)
    )
    return f"target_modules ({printable(names, 100)}) matches no module of the base: {PEFT} refuses that"
