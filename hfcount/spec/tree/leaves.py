"""The tree unfolded into leaves, and how a name finds its leaf.

A leaf stands for all tensors that differ only in layer or expert numbers, so any number of layers costs the same.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain
from math import prod
from operator import contains, mul
from typing import Literal

from hfcount.record import Record
from hfcount.spec.tree.dims import portion
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import (
    Block,
    Component,
    Kind,
    Linear,
    Node,
    Part,
    Presence,
    Repeat,
    Tensor,
    Tied,
    Undescribed,
)

Label = Literal["parameter", "buffer", "legacy", "tied", "auxiliary", "auxiliary buffer"]
"""Kind, presence and part of a leaf in one word, as reports give it."""


class Leaf(Record, kw_only=False):
    """All tensors whose names differ only in indices.

    Args:
        segments: the name, split at dots; an Indices stands for every number in it.
        shape: of each tensor, in elements.
        count: the number of tensors.
        active: how many of the tensors a token uses.
        tied_to: for a tied leaf, the name it is tied to.
        share: (k, n) if a token uses k of every n elements of a tensor.
        repeats: how many times a token uses them.
        linear: whether they are weights of a linear map.
        whole: whether their elements are whole numbers: a mask or indices.
        dtypes: what a tensor of a packed module may be stored as; empty for the model's own dtype, None if not packed.
        slack: by how many elements the first extent may be smaller.
        twin: the name of a tensor that it may be stored in place of.
        turned: whether they are weights (inputs, outputs) of linear maps of transformers' Conv1D.
    """

    segments: tuple[str | Indices, ...]
    shape: tuple[int, ...]
    kind: Kind
    component: Component
    count: int
    active: int
    tied_to: str | None = None
    share: tuple[int, int] = (1, 1)
    repeats: int = 1
    linear: bool = False
    presence: Presence = "required"
    part: Part = "model"
    whole: bool = False
    dtypes: tuple[str, ...] | None = None
    slack: int = 0
    twin: str | None = None
    turned: bool = False

    @property
    def counted(self) -> bool:
        """Whether its tensors are parameters of the model proper."""
        return self.kind == "parameter" and self.stored

    @property
    def stored(self) -> bool:
        """Whether the current implementation writes its tensors with the model proper."""
        return self.presence in ("required", "dispensable")

    @property
    def label(self) -> Label:
        """legacy: obsolete; tied: a second name of a parameter; auxiliary: of a multi-token-prediction layer."""
        if self.presence == "obsolete":
            return "legacy"
        if self.part == "prediction":
            return "auxiliary buffer" if self.kind == "buffer" else "auxiliary"
        return "tied" if self.tied_to else self.kind

    @property
    def size(self) -> int:
        """Elements of one tensor."""
        return prod(map(int, self.shape))

    @property
    def elements(self) -> int:
        """Elements of all its tensors."""
        return int(self.count) * self.size

    @property
    def active_elements(self) -> int:
        """Elements that a token uses, each counted once."""
        used, of = self.share
        return int(self.active) * self.size * int(used) // (int(of) or 1)

    @property
    def formula(self) -> int:
        """`elements` as a Dim where the shape has symbols."""
        return reduce(mul, self.shape, self.count)

    @property
    def active_formula(self) -> int:
        """`active_elements` as a Dim where the shape has symbols."""
        return portion(reduce(mul, self.shape, self.active), *self.share)

    @property
    def name(self) -> str:
        """The folded name, such as `model.layers.{0-63}.mlp.up_proj.weight`."""
        return ".".join(
            part if isinstance(part, str) else str(part) if part.count == 1 else f"{{{part}}}" for part in self.segments
        )

    @property
    def first(self) -> str:
        """The first of its names."""
        return ".".join(part if isinstance(part, str) else str(next(iter(part))) for part in self.segments)

    def names(self) -> list[str]:
        """Every name, `count` of them."""
        starts, ends = self._halves()
        return [start + end for start in starts for end in ends]

    def names_beyond(self, known: Container[str]) -> list[str]:
        """Every name that is not among the known. Built one by one, so that each is looked up while it is cached."""
        starts, ends = self._halves()
        return [name for start in starts for end in ends if (name := start + end) not in known]

    def places(self, files: Mapping[str, str]) -> list[str | None]:
        """The file of each name, None where there is none. Built one by one, as above."""
        starts, ends = self._halves()
        get = files.get
        return [get(start + end) for start in starts for end in ends]

    def _halves(self) -> tuple[list[str], list[str]]:
        """Beginnings and ends of its names: each combination of the two is a name."""
        first, *texts = ".".join(part if isinstance(part, str) else "\0" for part in self.segments).split("\0")
        starts, ends = [""], [first]
        for numbers, text in zip(self.indices, texts, strict=True):
            starts = [start + end for start in starts for end in ends]
            ends = [f"{number}{text}" for number in numbers]
        return starts, ends

    @property
    def indices(self) -> list[Indices]:
        """The numbers in its name, one set for each place."""
        return [part for part in self.segments if isinstance(part, Indices)]


def leaves(tree: Block) -> list[Leaf]:
    """The leaves of a tree, in its order."""
    return _unfold(tree, (), None, 1, 1)


def _unfold(
    node: Node,
    segments: tuple[str | Indices, ...],
    component: Component | None,
    count: int,
    active: int,
    repeats: int = 1,
) -> list[Leaf]:
    # One isinstance chain in one place reads better here than a method on each node.
    if isinstance(node, tuple):
        return [leaf for child in node for leaf in _unfold(child, segments, component, count, active, repeats)]
    if isinstance(node, Repeat):
        numbers = node.indices
        chosen = numbers.count if node.active is None else node.active
        return _unfold(node.body, (*segments, numbers), component, numbers.count * count, chosen * active, repeats)
    if isinstance(node, Undescribed):
        return []
    component = component or node.component
    if isinstance(node, Block):
        often = repeats if node.repeats is None else node.repeats
        return [
            leaf
            for name, child in node.children.items()
            for leaf in _unfold(child, (*segments, segment(name)), component, count, active, often)
        ]
    return _tensors(node, segments, component or "other", count, active, repeats=repeats)


def _tensors(
    node: Tensor | Tied | Linear,
    segments: tuple[str | Indices, ...],
    known: Component,
    count: int,
    active: int,
    *,
    repeats: int,
) -> list[Leaf]:
    """The leaves of a node that has no others below it."""
    presence: Presence = "optional" if known == "mtp" else "required"
    part: Part = "prediction" if known == "mtp" else "model"
    common = (known, count, active)
    if not isinstance(node, Tied) and node.presence != "required":
        presence, part = node.presence, "model" if node.presence == "obsolete" else part
    if isinstance(node, Tensor):
        kept = (presence, part, node.whole)
        leaf = Leaf(segments, node.shape, node.kind, *common, None, node.active, repeats, False, *kept)
        further = leaf.replace(segments=(*segments[:-2], segments[-1])).name if node.twin else None
        return [leaf.replace(twin=further, turned=node.turned) if further or node.turned else leaf]
    name, share = (*segments, "weight"), (1, 1) if isinstance(node, Tied) else node.active
    if isinstance(node, Tied):
        outputs, name = next(iter(node.shape), 1), (*segments, node.name)
        weight = Leaf(name, node.shape, "parameter", *common, node.to, (1, 1), repeats, False, "optional")
    else:
        outputs = node.outputs
        shape = (outputs, node.inputs)
        weight = Leaf(name, shape, "parameter", *common, None, share, repeats, True, presence, part)
    if not node.bias:
        return [weight]
    name = (*segments, "bias")
    return [weight, Leaf(name, (outputs,), "parameter", *common, None, share, repeats, False, presence, part)]


def undescribed(tree: Block) -> dict[str, str]:
    """The parts that are not described: the prefix of their names, and why."""
    return dict(_find_undescribed(tree, ""))


def _find_undescribed(node: Node, name: str) -> Iterable[tuple[str, str]]:
    if isinstance(node, Undescribed):
        return [(name, node.why)]
    if isinstance(node, Block):
        inner = ((child, f"{name}.{key}" if name else key) for key, child in node.children.items())
        return chain.from_iterable(_find_undescribed(child, key) for child, key in inner)
    return []


def segment(name: str) -> "str | Indices":
    """A segment of a name; a numeric one becomes Indices of one number, because lookup strips all numbers."""
    return Indices.of((int(name),)) if name.isdecimal() and is_index(name) else name


class Finder:
    """Finds the leaf that a tensor's name belongs to, in constant time per name."""

    def __init__(self, candidates: Iterable[Leaf]) -> None:
        self._candidates = candidates

    @cached_property
    def _by_text(self) -> dict[tuple[str, ...], list[tuple[Leaf, list[Container[int]]]]]:
        by_text: dict[tuple[str, ...], list[tuple[Leaf, list[Container[int]]]]] = {}
        for leaf in self._candidates:
            text, _ = split(".".join(part if isinstance(part, str) else "0" for part in leaf.segments))
            by_text.setdefault(text, []).append((leaf, [numbers.members for numbers in leaf.indices]))
        return by_text

    def leaves(self, text: tuple[str, ...]) -> Sequence[tuple[Leaf, Sequence[Container[int]]]]:
        """The leaves whose names have these texts around their indices, each with the numbers that it has there."""
        return self._by_text.get(text, ())

    def find(self, name: str) -> Leaf | None:
        """The leaf, or None when no tensor of the blueprint has that name."""
        text, numbers = split(name)
        for leaf, sets in self.leaves(text):
            if all(map(contains, sets, numbers)):
                return leaf
        return None


_INDEX = re.compile(r"\.(0|[1-9][0-9]{0,18})(?![^.])")


def split(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The texts around the indices of a name, with a dot put before it, and the indices."""
    parts = _INDEX.split(f".{name}")
    return tuple(parts[::2]), tuple(map(int, parts[1::2]))


def joined(text: Sequence[str], numbers: Iterable[int]) -> str:
    """The name that `split` makes these of."""
    first, *rest = text
    return (first + "".join(f".{number}{after}" for number, after in zip(numbers, rest, strict=True)))[1:]


def is_index(segment: str) -> bool:
    """Whether a segment of a name is a number as a module list writes it: `0`, `12`, not `01`."""
    return _INDEX.fullmatch(f".{segment}") is not None
