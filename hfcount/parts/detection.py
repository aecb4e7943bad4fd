"""Parts of detectors like DETR (arXiv:2005.12872)."""

from itertools import pairwise

from hfcount.tree.nodes import Block, Component, Linear, block


def numbered_mlp(*widths: int, component: Component = "mlp") -> Block:
    """A network through these widths. Tensors: layer1, layer2, ... with biases."""
    layers = {f"layer{place}": Linear(into, out, True) for place, (into, out) in enumerate(pairwise(widths), 1)}
    return Block(layers, component)


def perceptron(*widths: int, component: Component = "other") -> Block:
    """A network through these widths. Tensors: layers, numbered, with biases."""
    layers = {str(place): Linear(into, out, True) for place, (into, out) in enumerate(pairwise(widths))}
    return block(component, layers=Block(layers))
