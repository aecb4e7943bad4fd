"""The nodes of the blueprint's tree: Tensor, Linear, Tied, Undescribed, Repeat, Block, or a tuple of alternatives."""

from collections.abc import Mapping
from typing import Literal

from hfcount.record import Record
from hfcount.spec.tree.indices import Indices

Component = Literal[
    "embedding",
    "attention",
    "linear_attention",
    "ssm",
    "mlp",
    "convolution",
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
"""What a tensor is: a trained parameter, which is counted, or a constant that the model needs besides."""

Presence = Literal["required", "dispensable", "optional", "spare", "obsolete"]
"""Whether a checkpoint holds it: must; does, though it loads without; may; may even where the rest of its part is
there; or only did so in earlier versions, and transformers skips it."""

Part = Literal["model", "prediction"]
"""Which part a tensor belongs to: the model proper, or its multi-token-prediction layers."""


class Tensor(Record, kw_only=False):
    """One tensor; `shape` is in elements, and a token uses k of every n of them if `active` is (k, n).

    `whole` says that it holds whole numbers: a mask or indices. A `twin` is a second name for the tensor of the same
    name one level further up, which it may be stored in place of. `turned` says that it is the weight (inputs, outputs)
    of a linear map, as transformers' Conv1D stores it.
    """

    shape: tuple[int, ...]
    kind: Kind = "parameter"
    presence: Presence = "required"
    component: Component | None = None
    active: tuple[int, int] = (1, 1)
    whole: bool = False
    twin: bool = False
    turned: bool = False


class Linear(Record, kw_only=False):
    """y = x·Wᵀ + b: `weight` (outputs, inputs) and, with `bias`, `bias` (outputs); `active` as of a Tensor."""

    inputs: int
    outputs: int
    bias: bool = False
    component: Component | None = None
    presence: Presence = "required"
    active: tuple[int, int] = (1, 1)


class Tied(Record, kw_only=False):
    """A second name, which ends in `name`, for the tensor called `to`; some writers store a copy of it.

    With `bias` there is also a `bias`, which is a parameter of its own.
    """

    to: str
    shape: tuple[int, ...]
    component: Component | None = None
    bias: bool = False
    name: str = "weight"


class Undescribed(Record, kw_only=False):
    """A part that is not described, and why."""

    why: str


class Repeat(Record, kw_only=False):
    """`body` once for each index; a token passes through `active` of them (all when None)."""

    indices: Indices
    body: "Node"
    active: int | None = None


class Block(Record, kw_only=False):
    """Named children. A tensor's component is that of the outermost block around it that has one.

    `repeats`, how often a token passes through them, overrides the enclosing count; 0 for a tower, which text tokens
    skip.
    """

    children: Mapping[str, "Node"]
    component: Component | None = None
    repeats: int | None = None


Node = Tensor | Linear | Tied | Undescribed | Repeat | Block | tuple["Node", ...]
"""A tuple holds alternatives under one name: the layers of a stack by kind."""


def buffer(*shape: int, component: Component | None = None, whole: bool = False) -> Tensor:
    """A tensor that is stored but is not a parameter; `shape` is in elements, `whole` says that these are integers."""
    return Tensor(shape, "buffer", component=component, whole=whole)


def obsolete(*shape: int, whole: bool = False, twin: bool = False) -> Tensor:
    """A buffer that earlier versions stored, and that is skipped; `shape` is in elements, `whole` a mask or indices."""
    return Tensor(shape, "buffer", "obsolete", whole=whole, twin=twin)


def block(component: Component | None = None, /, **children: "Node | None") -> Block:
    """A Block; keyword names are segments of tensor names, and None means the part is absent."""
    return Block({name: child for name, child in children.items() if child is not None}, component)
