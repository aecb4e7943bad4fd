"""The blueprint and its measures: what is counted, and under which name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from hfcount import families
from hfcount.errors import ConfigError
from hfcount.mapper import Config
from hfcount.spec import Head, Spec
from hfcount.text import typed
from hfcount.tree.leaves import Label, Leaf, leaves, undescribed
from hfcount.tree.nodes import Block, Component

if TYPE_CHECKING:
    from hfcount.formula.closed_form import Formula

LISTING_LIMIT = 5_000_000
"""Tensors: more are counted, but not listed one by one."""


class Stored(NamedTuple):
    """One tensor: its name, its shape in elements, the component it belongs to, and its kind."""

    name: str
    shape: tuple[int, ...]
    component: Component
    kind: Label

    @property
    def role(self) -> Component:
        """Another name of `component`."""
        return self.component


@dataclass(frozen=True, slots=True)
class Row:
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
    """Parameters, in elements: all of them, and those that one token passes through."""

    total: int
    active: int


@dataclass(frozen=True)
class Blueprint:
    """Every tensor that a checkpoint of one config must hold.

    `total` is the distinct parameters of the model: a tied matrix once, buffers not. `active` counts the experts one
    token is routed to in place of all. `active_without_embedding` leaves out an embedding table that is only looked
    up, which a tied one is not.
    """

    spec: Spec
    tree: Block
    unread: tuple[str, ...] = ()

    @cached_property
    def leaves(self) -> list[Leaf]:
        """The tree unfolded; one entry per kind of tensor, however many layers there are."""
        return leaves(self.tree)

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """The parts that are not described: the prefix of their names, and why."""
        return undescribed(self.tree)

    @property
    def asides(self) -> tuple[str, ...]:
        """The prefixes of the parts that are not described."""
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
        """Parameters one token passes through, in elements."""
        return sum(measure.active for measure in self.by_component.values())

    @property
    def active_without_embedding(self) -> int:
        """`active` less an embedding table that is only looked up."""
        tied = {leaf.to for leaf in self.leaves}
        return self.active - sum(
            leaf.elements for leaf in self._parameters() if leaf.component == "embedding" and leaf.name not in tied
        )

    @property
    def tensor_count(self) -> int:
        """How many tensors a checkpoint stores."""
        return sum(int(leaf.count) for leaf in self.stored_leaves())

    @cached_property
    def head(self) -> list[Leaf]:
        """What the named class has beside the base model."""
        if self.spec.head == "base" or "base" not in self.spec.heads:
            return []
        return _beyond({leaf.name for leaf in leaves(self._tree_with("base"))}, self.leaves)

    @cached_property
    def other_heads(self) -> list[Leaf]:
        """What other classes of this architecture have and the named one has not."""
        own, found = {leaf.name for leaf in self.leaves}, dict[str, Leaf]()
        for head in self.spec.heads:
            if head not in ("base", self.spec.head):
                found |= {leaf.name: leaf for leaf in _beyond(own, leaves(self._tree_with(head)))}
        return [leaf for leaf in found.values() if leaf.counted or leaf.to]

    def _tree_with(self, head: Head) -> Block:
        return families.tree(self.spec.but(head=head))

    def stored_leaves(self) -> list[Leaf]:
        """What a checkpoint stores: parameters and buffers."""
        return [leaf for leaf in self.leaves if leaf.presence == "required"]

    def tensors(self, stored: bool = True) -> Iterator[Stored]:
        """Names and shapes, one by one.

        Args:
            stored: whether to leave out what a current writer does not store: tied copies and obsolete buffers.

        Raises:
            ConfigError: there are more than 5,000,000.
        """
        chosen = self.stored_leaves() if stored else self.leaves
        count = sum(int(leaf.count) for leaf in chosen)
        if count > LISTING_LIMIT:
            raise ConfigError(
                f"this config describes {count:,} tensors, and more than {LISTING_LIMIT:,} are not listed one by one;"
                " rows() folds them."
            )
        return (Stored(name, leaf.shape, leaf.component, leaf.label) for leaf in chosen for name in leaf.names())

    def rows(self) -> list[Row]:
        """All tensors, folded into templates with index ranges; tied copies and obsolete buffers by their kind."""
        return [
            Row(leaf.name, int(leaf.count), leaf.shape, leaf.component, leaf.label, leaf.elements)
            for leaf in self.leaves
        ]

    def formula(self) -> "Formula":
        """The closed form of `total` and `active`, per component, per kind of layer and as a whole."""
        from hfcount.formula.closed_form import Formula  # most runs want none

        return Formula(self.spec, self._parameters())

    def _parameters(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves if leaf.counted]


def _beyond(known: Iterable[str], found: Iterable[Leaf]) -> list[Leaf]:
    """The leaves that are not among the known names, whatever the base model is called around either."""
    names = {form for name in known for form in _forms(name)}
    return [leaf for leaf in found if names.isdisjoint(_forms(leaf.name))]


def _forms(name: str) -> list[str]:
    inner = name.partition(".")[2]
    return [name, inner] if "." in inner else [name]


def blueprint(config: Mapping[str, Any]) -> Blueprint:
    """The blueprint of a config.json, given as a dict.

    Raises:
        UnknownArchitecture: no family describes it.
        ConfigError: it lacks a key or contradicts itself.
        TypeError: it is not a dict with str keys.
    """
    if not isinstance(config, Mapping):
        raise TypeError(f"config is {typed(config)}, and must be a dict: the JSON object that a config.json holds.")
    for key in config:
        if not isinstance(key, str):
            raise TypeError(f"config has the key {typed(key)}, and every key must be a str.")
    return build(Config(config))


def build(config: Config) -> Blueprint:
    """The blueprint of a config that knows where it is from."""
    spec = families.read(config)
    return Blueprint(spec, families.tree(spec), unread=tuple(config.unread()))
