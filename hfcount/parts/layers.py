"""Layers that many architectures have in common."""

from collections.abc import Callable

from hfcount.parts.ffn import swiglu
from hfcount.parts.norms import rms_norm
from hfcount.spec import Layer, MoE
from hfcount.tree.nodes import Block, Node


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
