"""The blueprint's tree: five kinds of node, and the leaves they unfold to.

A leaf stands for all tensors that differ only in layer or expert numbers, so a fold over the leaves costs the same
for any number of layers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from math import prod
from operator import mul
from typing import Literal

from hfcount.tree.indices import Indices

Role = Literal[
    "embedding",
    "attention",
    "linear_attention",
    "ssm",
    "mlp",
    "experts",
    "router",
    "norm",
    "lm_head",
    "mtp",
    "vision",
    "other",
]
"""The component a tensor is counted under."""

Kind = Literal["parameter", "buffer", "legacy", "tied", "auxiliary", "auxiliary buffer"]
"""What a tensor is to a checkpoint.

parameter: counted and required; buffer: required, though no parameter; legacy: a buffer that earlier versions wrote;
tied: a second name of a parameter; auxiliary: a parameter or buffer of a multi-token-prediction layer, which may be
stored beside the model.
"""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor, `shape` in elements; with `active` (k, n) a token uses k of every n of them."""

    shape: tuple[int, ...]
    kind: Kind = "parameter"
    role: Role | None = None
    active: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Linear:
    """y = x·Wᵀ + b: `weight` (outputs, inputs) and, with `bias`, `bias` (outputs)."""

    inputs: int
    outputs: int
    bias: bool = False
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Tied:
    """A second name, `weight`, for the tensor called `to`; some writers store it again.

    With `bias` there is one beside it, which is a parameter of its own.
    """

    to: str
    shape: tuple[int, ...]
    role: Role | None = None
    bias: bool = False


@dataclass(frozen=True, slots=True)
class Aside:
    """A part that is not described; `why` says so."""

    why: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` once for each index; a token passes through `active` of them (all when None)."""

    indices: Indices
    body: "Node"
    active: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Named children; the outermost role on the way to a tensor is its component."""

    children: Mapping[str, "Node"]
    role: Role | None = None


Node = Tensor | Linear | Tied | Aside | Repeat | Block | tuple["Node", ...]
"""A tuple holds alternatives under one name: the layers of a stack by kind."""


def block(role: Role | None = None, /, **children: "Node | None") -> Block:
    """A Block; keyword names are segments of tensor names, and None means the part is absent."""
    return Block({name: child for name, child in children.items() if child is not None}, role)


@dataclass(frozen=True, slots=True)
class Leaf:
    """All tensors whose names differ in nothing but indices.

    Args:
        segments: the name, split at dots; an Indices stands for every number in it.
        shape: of each tensor, in elements.
        count: how many tensors; active: how many of them a token passes through; share: how many of how many of
            their elements.
        to: for a tied leaf, the name it is tied to.
    """

    segments: tuple[str | Indices, ...]
    shape: tuple[int, ...]
    kind: Kind
    role: Role
    count: int
    active: int
    to: str | None = None
    share: tuple[int, int] = (1, 1)

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
        """Elements that a token passes through."""
        some, of = self.share
        return int(self.active) * self.size * int(some) // int(of)

    @property
    def formula(self) -> int:
        """`elements` as a Dim where the shape has symbols."""
        return reduce(mul, self.shape, self.count)

    @property
    def name(self) -> str:
        """The folded name, such as `model.layers.{0-63}.mlp.up_proj.weight`."""
        return ".".join(
            part if isinstance(part, str) else str(part) if part.count == 1 else f"{{{part}}}" for part in self.segments
        )

    def names(self) -> list[str]:
        """Every name, `count` of them."""
        names, text = [""], ""
        for segment in self.segments:
            if isinstance(segment, str):
                text += f"{segment}."
            else:
                middles = [f"{text}{number}." for number in segment]
                names, text = [name + middle for name in names for middle in middles], ""
        last = text[:-1]
        return [name + last for name in names] if last else [name[:-1] for name in names]


def leaves(tree: Block) -> list[Leaf]:
    """The tree unfolded to its leaves, in the order of the tree."""
    return list(_unfold(tree, (), None, 1, 1))


def _unfold(
    node: Node, segments: tuple[str | Indices, ...], role: Role | None, count: int, active: int
) -> Iterable[Leaf]:
    # One isinstance chain in one place reads better here than a method on each node.
    if isinstance(node, tuple):
        return chain.from_iterable(_unfold(one, segments, role, count, active) for one in node)
    if isinstance(node, Repeat):
        numbers = node.indices
        chosen = numbers.count if node.active is None else node.active
        return _unfold(node.body, (*segments, numbers), role, numbers.count * count, chosen * active)
    if isinstance(node, Aside):
        return []
    role = role or node.role
    if isinstance(node, Block):
        return chain.from_iterable(
            _unfold(child, (*segments, segment(name)), role, count, active) for name, child in node.children.items()
        )
    known = role or "other"
    kind: Kind = "auxiliary" if known == "mtp" else "parameter"
    if isinstance(node, Tensor):
        own: Kind = node.kind
        if known == "mtp" and own != "legacy":
            own = "auxiliary buffer" if own == "buffer" else kind
        return [Leaf(segments, node.shape, own, known, count, active, share=node.active)]
    weight, bias = (*segments, "weight"), (*segments, "bias")
    if isinstance(node, Tied):
        result = [Leaf(weight, node.shape, "tied", known, count, active, node.to)]
        outputs = node.shape[0]
    else:
        result = [Leaf(weight, (node.outputs, node.inputs), kind, known, count, active)]
        outputs = node.outputs
    return [*result, Leaf(bias, (outputs,), kind, known, count, active)] if node.bias else result


def asides(tree: Block) -> dict[str, str]:
    """The parts that are not described: the prefix of their names, and why."""
    return dict(_find_asides(tree, ""))


def _find_asides(node: Node, name: str) -> Iterable[tuple[str, str]]:
    if isinstance(node, Aside):
        return [(name, node.why)]
    if isinstance(node, Block):
        inner = ((child, f"{name}.{key}" if name else key) for key, child in node.children.items())
        return chain.from_iterable(_find_asides(child, key) for child, key in inner)
    return []


def segment(name: str) -> "str | Indices":
    """A segment of a name; a number is a set of one, since names are looked up with their numbers taken out."""
    return Indices.of((int(name),)) if is_index(name) else name


class Finder:
    """Finds the leaf that a tensor's name belongs to, in constant time per name."""

    def __init__(self, candidates: Iterable[Leaf]) -> None:
        self._by_template: dict[tuple[str | None, ...], list[Leaf]] = {}
        for leaf in candidates:
            template = tuple(segment if isinstance(segment, str) else None for segment in leaf.segments)
            self._by_template.setdefault(template, []).append(leaf)

    def find(self, name: str) -> Leaf | None:
        """The leaf, or None when no tensor of the blueprint has that name."""
        segments = name.split(".")
        template = tuple(None if is_index(segment) else segment for segment in segments)
        for leaf in self._by_template.get(template, ()):
            if all(
                int(found) in expected
                for found, expected in zip(segments, leaf.segments, strict=True)
                if isinstance(expected, Indices)
            ):
                return leaf
        return None


def is_index(segment: str) -> bool:
    """Whether a segment of a name is a number as a module list writes it: `0`, `12`, not `01`."""
    return segment.isdecimal() and segment.isascii() and (segment[0] != "0" or len(segment) == 1) and len(segment) < 20
