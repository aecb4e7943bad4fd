"""Parts of SAM and its successors (arXiv:2304.02643, arXiv:2408.00714)."""

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Repeat, Tensor, block


def feed_forward(inputs: int, width: int, outputs: int, depth: int, component: Component = "other") -> Block:
    """A network of `depth` layers, of which all between the first and the last map `width` to itself.

    Tensors: proj_in (width, inputs), layers (width, width), proj_out (outputs, width), with biases.
    """
    between = Repeat(Indices.below(depth - 2), Linear(width, width, True)) if depth > 2 else None
    first, last = Linear(inputs, width, True), Linear(width, outputs, True)
    return block(component, proj_in=first, layers=between, proj_out=last)


def narrowed_attention(d: int, inner: int, out: str, memory: int | None = None) -> Block:
    """Attention of another width than its input. Tensors: q_proj, k_proj, v_proj (inner, d), `out` (d, inner).

    `memory` is the width of the input of keys and values, if it is not d.
    """
    query, seen = Linear(d, inner, True), Linear(memory or d, inner, True)
    return Block({"q_proj": query, "k_proj": seen, "v_proj": seen, out: Linear(inner, d, True)}, "attention")


def frequencies(count: int, trained: bool = False) -> Block:
    """Random frequencies that encode a place, a buffer unless trained. Tensors: positional_embedding (2, count)."""
    return block("embedding", positional_embedding=Tensor((2, count), "parameter" if trained else "buffer"))
