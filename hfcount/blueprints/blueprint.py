"""The blueprint: every tensor of a model, and its parameter counts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from re import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from hfcount.architectures import families
from hfcount.blueprints.model_class import Naming
from hfcount.errors import ConfigError, UnknownClass
from hfcount.mapper.classes import prefix
from hfcount.mapper.loader_differences import MovedSizes, RotaryDifference, TieDifference
from hfcount.mapper.token_ids import TokenId
from hfcount.record import Record, made
from hfcount.spec import Head, Spec
from hfcount.spec.tree.leaves import Label, Leaf, leaves, undescribed
from hfcount.spec.tree.nodes import Block, Component

if TYPE_CHECKING:
    from hfcount.blueprints.formula.closed_form import Formula
    from hfcount.spec.tree.spellings import Spellings

LISTING_LIMIT = 5_000_000
"""Tensors: more are counted, but not listed one by one."""


class NamedTensor(NamedTuple):
    """One tensor: its name, its shape in elements, the component it is counted under, and its kind."""

    name: str
    shape: tuple[int, ...]
    component: Component
    kind: Label

    @property
    def role(self) -> Component:
        """Another name of `component`."""
        return self.component


class Row(Record, kw_only=False):
    """All tensors whose names differ only in indices; `elements` is their sum."""

    name: str
    count: int
    shape: tuple[int, ...]
    component: Component
    kind: Label
    elements: int

    @property
    def role(self) -> Component:
        """Another name of `component`."""
        return self.component


class Measure(NamedTuple):
    """Parameters, in elements: all of them, and those that one token uses."""

    total: int
    active: int


class Blueprint(Record, kw_only=False):
    """Every tensor that a checkpoint of one config must hold.

    `total` counts distinct parameters: a tied matrix once, buffers not at all. `active` counts only the experts that
    one token is routed to. `active_without_embedding` leaves out an embedding table that is only looked up; a tied one
    stays, since it is also the head.

    Args:
        unread: keys that may affect shapes and that the family did not read.
        assumed_defaults: absent keys, each with the default of transformers that was used.
        problems: contradictions that a model can be built with and not run, and values that transformers refuses.
        token_ids: the token ids in the config.
        derived_with: the library that built names and shapes in place of a family; nothing else is known then.
        recorded_from: the library whose models it was recorded from, where it is such a record and no description.
        beyond: sizes of the config outside of what was probed when it was recorded.
        naming: the class that the config names.
        other: where that class is of other model_types, what each makes of the config, or why it refuses it.
        custom_code: why code in the repo may build another model.
        ties_otherwise, rotary_otherwise, moved: how readers other than the reference read the config.
        untied: names of tied tensors whose stored values differ; the reference does not tie these, so each counts.
        keep_names: whether its names are kept, because several checkpoints are compared with it.
        verbatim_names: whether it accepts no other names than its own.
    """

    spec: Spec
    tree: Block
    unread: tuple[str, ...] = ()
    assumed_defaults: Mapping[str, Any] = made(factory=dict)
    problems: tuple[ConfigError, ...] = ()
    token_ids: tuple[TokenId, ...] = ()
    derived_with: str = ""
    recorded_from: str = ""
    beyond: tuple[str, ...] = ()
    naming: Naming = made(factory=Naming)
    other: Mapping[str, "Blueprint | ConfigError"] = made(factory=dict)
    custom_code: UnknownClass | None = None
    ties_otherwise: tuple[TieDifference, ...] = ()
    rotary_otherwise: tuple[RotaryDifference, ...] = ()
    moved: MovedSizes | None = None
    untied: frozenset[str] = frozenset()
    keep_names: bool = False
    verbatim_names: bool = False

    @cached_property
    def leaves(self) -> list[Leaf]:
        """The tree unfolded; one entry per kind of tensor, however many layers there are."""
        tied = leaves(self.tree)
        if not self.untied:
            return tied
        return [leaf.replace(tied_to=None, presence="required") if leaf.name in self.untied else leaf for leaf in tied]

    @cached_property
    def kept_names(self) -> Mapping[int, Sequence[str]]:
        """The names of each leaf by its `id`, where they are kept."""
        return {id(leaf): leaf.names() for leaf in self.leaves} if self.keep_names else {}

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """Why parts are not described, by the prefix of their names."""
        return undescribed(self.tree)

    @property
    def unmodeled(self) -> tuple[str, ...]:
        """Prefixes of tensor names, with a final dot, that are not described."""
        return tuple(f"{prefix}." for prefix in self.reasons)

    @property
    def mtp(self) -> int:
        """Elements of the multi-token-prediction layers that the config announces."""
        return sum(leaf.elements for leaf in self.leaves if leaf.label == "auxiliary")

    @cached_property
    def by_component(self) -> Mapping[Component, Measure]:
        """Parameters per component, in elements, in the order of the model."""
        sums: dict[Component, Measure] = {}
        for leaf in self._parameters():
            total, active = sums.get(leaf.component, (0, 0))
            sums[leaf.component] = Measure(total + leaf.elements, active + leaf.active_elements)
        return sums

    @property
    def total(self) -> int:
        """All distinct parameters, in elements."""
        return sum(measure.total for measure in self.by_component.values())

    @property
    def active(self) -> int:
        """Parameters that one token uses, in elements."""
        return sum(measure.active for measure in self.by_component.values())

    @property
    def active_without_embedding(self) -> int:
        """`active` without an embedding table that is only looked up, in elements."""
        tied = {leaf.tied_to for leaf in self.leaves if len(leaf.shape) > 1}  # a head is a matrix
        return self.active - sum(
            leaf.active_elements
            for leaf in self._parameters()
            if leaf.component == "embedding" and leaf.name not in tied
        )

    @property
    def tensor_count(self) -> int:
        """The number of tensors that a checkpoint must store."""
        return sum(int(leaf.count) for leaf in self.stored_leaves())

    @cached_property
    def head(self) -> list[Leaf]:
        """Leaves that the config's class has in addition to the base model."""
        if self.spec.head == "base" or "base" not in self.spec.heads:
            return []
        return _beyond({leaf.name for leaf in leaves(self._tree_with("base"))}, self.leaves)

    @cached_property
    def other_heads(self) -> list[Leaf]:
        """Leaves that other classes of this architecture have and the config's class lacks."""
        names, others = {leaf.name for leaf in self.leaves}, dict[str, Leaf]()
        for head in self.spec.heads:
            if head not in ("base", self.spec.head):
                others |= {leaf.name: leaf for leaf in _beyond(names, leaves(self._tree_with(head)))}
        return [leaf for leaf in others.values() if leaf.counted or leaf.tied_to]

    def path_in_memory(self, name: str) -> str:
        """The path that transformers has a module at in memory, by the name that it saves the module under."""
        spellings, common = self.spellings, self.spellings.common(name)
        inside = name.startswith(spellings.prefix) and not common.startswith(spellings.prefix)
        return f"{spellings.prefix}{common}" if inside else common

    @cached_property
    def spellings(self) -> "Spellings":
        """Other names and layouts that the reference takes when it loads this model."""
        from hfcount.spec.tree.spellings import Spellings, compiled  # only names that differ ask for it

        if self.verbatim_names:
            return Spellings(compiled({}))
        known = families.conversions(self.spec)
        within = {f"^{escape(known.within[0])}": known.within[1]} if known.within and known.within[1] else {}
        rules = compiled({**within, **known.spellings})
        named = prefix(self.spec.architecture, self.spec.family)
        base = self._base_name(Spellings(rules).common) if named is None else f"{named}." if named else ""
        return Spellings(rules, base, known.merged, known.transposed, known.allotted)

    def _base_name(self, common: Callable[[str], str]) -> str:
        """The prefix of the base model in classes with a head; "" if it is not the name of one attribute."""
        bare = self.spec.head == "base"
        heads: list[Head] = [head for head in self.spec.heads if head not in ("base", "question_answering")]
        alone = leaves(self.tree if bare else self._tree_with("base"))
        headed = leaves(self._tree_with(heads[0])) if bare and heads else self.leaves
        base = _prefix(common(alone[0].name), [common(leaf.name) for leaf in headed]) if alone else ""
        return "" if base.count(".") > 1 else base

    def _tree_with(self, head: Head) -> Block:
        return families.tree(self.spec.replace(head=head))

    def stored_leaves(self) -> list[Leaf]:
        """Leaves that a checkpoint must store: parameters and buffers."""
        return [leaf for leaf in self.leaves if leaf.stored]

    def tensors(self, stored: bool = True) -> Iterator[NamedTensor]:
        """Names and shapes, one by one.

        Args:
            stored: leave out what current writers do not store: tied copies and obsolete buffers.

        Raises:
            ConfigError: there are more than 5,000,000 tensors.
        """
        chosen = self.stored_leaves() if stored else self.leaves
        count = sum(int(leaf.count) for leaf in chosen)
        if count > LISTING_LIMIT:
            raise ConfigError(
                f"this config describes {count:,} tensors, and more than {LISTING_LIMIT:,} are not listed one by one;"
                " rows() folds them.",
                variant="out-of-range",
            )
        return (NamedTensor(name, leaf.shape, leaf.component, leaf.label) for leaf in chosen for name in leaf.names())

    def rows(self) -> list[Row]:
        """All tensors, folded into names with index ranges; `kind` marks tied copies and obsolete buffers."""
        return [
            Row(leaf.name, int(leaf.count), leaf.shape, leaf.component, leaf.label, leaf.elements)
            for leaf in self.leaves
        ]

    def formula(self) -> "Formula":
        """The closed form of `total` and `active`, per component, per kind of layer and as a whole."""
        from hfcount.blueprints.formula.closed_form import Formula  # most runs do not need it

        return Formula(self.spec, self._parameters())

    def _parameters(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves if leaf.counted]


def _prefix(name: str, names: list[str]) -> str:
    """The prefix of a base model's name among the names of a class with a head; "" if there is none."""
    return "" if name in names else next((full.removesuffix(name) for full in names if full.endswith(f".{name}")), "")


def _beyond(known: Iterable[str], candidates: Iterable[Leaf]) -> list[Leaf]:
    """The leaves that are not among the known names; a prefix for the base model makes no difference."""
    names = {form for name in known for form in _forms(name)}
    return [leaf for leaf in candidates if names.isdisjoint(_forms(leaf.name))]


def _forms(name: str) -> list[str]:
    inner = name.partition(".")[2]
    return [name, inner] if "." in inner else [name]
