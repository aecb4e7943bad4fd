"""Normalisation layers."""

from hfcount.spec.tree.nodes import Block, Tensor, block


def rms_norm(d: int) -> Block:
    """Root mean square normalisation (arXiv:1910.07467). Tensors: weight (d)."""
    return block("norm", weight=Tensor((d,)))


def layer_norm(d: int, bias: bool = True) -> Block:
    """Layer normalisation (arXiv:1607.06450). Tensors: weight (d) and, with `bias`, bias (d)."""
    return block("norm", weight=Tensor((d,)), bias=Tensor((d,)) if bias else None)
