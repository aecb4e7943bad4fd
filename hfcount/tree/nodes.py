"""The blueprint's tree: five kinds of node, and the leaves they unfold to.

A leaf stands for all tensors that differ only in layer or expert numbers, so a fold over the leaves costs the same
for any number of layers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hfcount.tree.indices import Indices

Component = Literal[
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
    "audio",
    "projector",
    "other",
]
"""The component a tensor is counted under."""

Kind = Literal["parameter", "buffer"]
"""What a tensor is: trained, and so counted, or a constant that the model needs beside its parameters."""

Presence = Literal["required", "optional", "obsolete"]
"""Whether a checkpoint holds it: obsolete is what earlier versions wrote and loaders skip."""

Part = Literal["model", "prediction"]
"""What it belongs to: the model proper, or its multi-token-prediction layers."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor, `shape` in elements; with `active` (k, n) a token uses k of every n of them."""

    shape: tuple[int, ...]
    kind: Kind = "parameter"
    presence: Presence = "required"
    component: Component | None = None
    active: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Linear:
    """y = x·Wᵀ + b: `weight` (outputs, inputs) and, with `bias`, `bias` (outputs)."""

    inputs: int
    outputs: int
    bias: bool = False
    component: Component | None = None


@dataclass(frozen=True, slots=True)
class Tied:
    """A second name, `weight`, for the tensor called `to`; some writers store it again.

    With `bias` there is one beside it, which is a parameter of its own.
    """

    to: str
    shape: tuple[int, ...]
    component: Component | None = None
    bias: bool = False


@dataclass(frozen=True, slots=True)
class Undescribed:
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
    """Named children; the outermost component on the way to a tensor is its component.

    `repeats` is how often a token passes through them, where it is not as often as through what is around: a tower for
    images or sounds is none of its way.
    """

    children: Mapping[str, "Node"]
    component: Component | None = None
    repeats: int | None = None


Node = Tensor | Linear | Tied | Undescribed | Repeat | Block | tuple["Node", ...]
"""A tuple holds alternatives under one name: the layers of a stack by kind."""


def buffer(*shape: int, component: Component | None = None) -> Tensor:
    """A tensor that is stored though it is no parameter, `shape` in elements."""
    return Tensor(shape, "buffer", component=component)


def obsolete(*shape: int) -> Tensor:
    """A buffer that earlier versions stored and loaders skip, `shape` in elements."""
    return Tensor(shape, "buffer", "obsolete")


def block(component: Component | None = None, /, **children: "Node | None") -> Block:
    """A Block; keyword names are segments of tensor names, and None means the part is absent."""
    return Block({name: child for name, child in children.items() if child is not None}, component)
