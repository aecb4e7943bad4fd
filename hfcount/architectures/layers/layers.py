"""Layers that many architectures have in common."""

from collections.abc import Callable

from hfcount.architectures.layers.ffn import swiglu
from hfcount.architectures.layers.norms import rms_norm
from hfcount.spec import Layer, MoE
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat


def pre_norm(d: int, norm: Callable[[int], Block] = rms_norm, /, **branches: Node) -> Block:
    """A pre-norm layer of two branches, a mixer and a network (arXiv:2002.04745).

    Tensors: input_layernorm (d), the first of `branches`, post_attention_layernorm (d), the second.
    """
    (mixer, attention), (network, ffn) = branches.items()
    return Block({"input_layernorm": norm(d), mixer: attention, "post_attention_layernorm": norm(d), network: ffn})


def network(d: int, one: Layer, experts: Callable[[MoE], Block]) -> Block:
    """The feed-forward network of a layer: built by `experts` if it is an MoE, else SwiGLU."""
    return experts(one.moe) if isinstance(one.ffn, MoE) else swiglu(d, one.dense.width, one.dense.bias)


def altered(common: Block, /, **children: Node | None) -> Block:
    """A block with further children; a child of the same name is replaced, or removed by None."""
    merged = {**common.children, **children}
    return Block({name: child for name, child in merged.items() if child is not None}, common.component)


def within(common: Block, /, **more: Block) -> Block:
    """A block whose children, blocks themselves, get the children of the block of their name in `more`."""
    found = dict(common.children)
    for name, one in more.items():
        inner = found[name]
        if not isinstance(inner, Block):
            raise TypeError(f"{name} is no block")
        found[name] = Block({**inner.children, **one.children}, inner.component)
    return Block(found, common.component)


def chain(inputs: int, middle: int, outputs: int, count: int, layer: Callable[[int, int], Node]) -> tuple[Repeat, ...]:
    """`count` layers, the first of which reads `inputs`, the last makes `outputs`, and all else is `middle` wide."""
    last = int(count) - 1
    if last < 1:
        return (Repeat(Indices.below(count), layer(inputs, outputs)),)
    between = Repeat(Indices(range(1, last), count - 2), layer(middle, middle))
    ends = Repeat(Indices.below(1), layer(inputs, middle)), Repeat(Indices.of([last]), layer(middle, outputs))
    return (ends[0], between, ends[1])
