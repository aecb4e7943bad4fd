"""Convolutional networks: convolutions, batch normalisation, and stacks whose first layer differs.

Stride, padding and dilation do not affect shapes.
"""

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block, buffer


def conv(inputs: int, outputs: int, *sides: int, groups: int = 1, bias: bool = False) -> Block:
    """A convolution. Tensors: weight (outputs, inputs / groups, *sides) and, with `bias`, bias (outputs).

    One side makes a square; for more dimensions, or oblong kernels, each side is given.
    """
    kernel = sides * 2 if len(sides) == 1 else sides
    per_group = inputs if groups == 1 else 1 if groups == inputs else inputs // groups
    return block("convolution", weight=Tensor((outputs, per_group, *kernel)), bias=Tensor((outputs,)) if bias else None)


def transposed(inputs: int, outputs: int, side: int, bias: bool = True) -> Block:
    """A transposed convolution. Tensors: weight (inputs, outputs, side, side) and, with `bias`, bias (outputs)."""
    return block("convolution", weight=Tensor((inputs, outputs, side, side)), bias=Tensor((outputs,)) if bias else None)


def depthwise(channels: int, *sides: int, bias: bool = False) -> Block:
    """A depthwise convolution. Tensors: weight (C, 1, *sides) and, with `bias`, bias (C)."""
    return conv(channels, channels, *sides, groups=channels, bias=bias)


def batch_norm(d: int) -> Block:
    """Batch normalisation (arXiv:1502.03167). Tensors: weight and bias (d).

    Buffers: running_mean and running_var (d), num_batches_tracked (), an integer.
    """
    count = buffer(whole=True)
    return block(
        "norm",
        weight=Tensor((d,)),
        bias=Tensor((d,)),
        running_mean=buffer(d),
        running_var=buffer(d),
        num_batches_tracked=count,
    )


def normed(
    inputs: int,
    outputs: int,
    *sides: int,
    groups: int = 1,
    bias: bool = False,
    names: tuple[str, str] = ("convolution", "normalization"),
) -> Block:
    """A convolution and batch normalisation, under these names."""
    first, second = names
    return Block({first: conv(inputs, outputs, *sides, groups=groups, bias=bias), second: batch_norm(outputs)})


def frozen(node: Node) -> Node:
    """The tree with frozen batch normalisation: its tensors are buffers, without num_batches_tracked."""
    if isinstance(node, tuple):
        return tuple(map(frozen, node))
    if isinstance(node, Repeat):
        return Repeat(node.indices, frozen(node.body), node.active)
    if not isinstance(node, Block):
        return node
    if "running_mean" not in node.children:
        return Block({name: frozen(child) for name, child in node.children.items()}, node.component, node.repeats)
    kept = {name: child for name, child in node.children.items() if name != "num_batches_tracked"}
    stored = {name: buffer(*child.shape) for name, child in kept.items() if isinstance(child, Tensor)}
    return Block(stored, node.component, node.repeats)


def led(count: int, first: Node, rest: Node) -> tuple[Node, ...]:
    """`count` layers, at least one, the first of which differs from the others."""
    others = count - 1
    later = (Repeat(Indices(range(1, 1 + max(0, int(others))), others), rest),) if others > 0 else ()
    return (Repeat(Indices.below(1), first), *later)
