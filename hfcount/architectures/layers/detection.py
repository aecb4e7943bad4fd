"""Parts of detectors like DETR (arXiv:2005.12872)."""

from collections.abc import Sequence
from itertools import pairwise

from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.vision import square_attention
from hfcount.spec import Layer
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Tied, block

_NAMED = 64  # layers whose second names are known: each is written out


def perceptron(*widths: int, component: Component = "other") -> Block:
    """A network through these widths. Tensors: layers, numbered, with biases."""
    layers = {str(place): Linear(into, out, True) for place, (into, out) in enumerate(pairwise(widths))}
    return block(component, layers=Block(layers))


def detr_layer(d: int, one: Layer, crossed: Block | bool = False) -> Block:
    """A layer as DETR names it, with attention to the encoder if `crossed`, or with `crossed` for it.

    Tensors: self_attn with out_proj, encoder_attn, fc1 (d_ff, d), fc2 (d, d_ff), and a norm behind each.
    """
    attention, norm = square_attention(d, out="out_proj"), layer_norm(d)
    between: dict[str, Node] = {"encoder_attn_layer_norm": norm} if crossed else {}
    if crossed:
        between = {"encoder_attn": attention if crossed is True else crossed, **between}
    return Block(
        {
            "self_attn": attention,
            "self_attn_layer_norm": norm,
            **between,
            **fc(d, one.dense.width),
            "final_layer_norm": norm,
        }
    )


def named_attention(d: int) -> Block:
    """Attention whose projections are called in full. Tensors: query, key, value and out_proj, each (d, d)."""
    square = Linear(d, d, True)
    return block("attention", query=square, key=square, value=square, out_proj=square)


def sampling(d: int, points: int, heads: int, **more: Node) -> Block:
    """Deformable attention, to few places of each level (arXiv:2010.04159), `points` in all for each head.

    Tensors: sampling_offsets (2·h·points, d), attention_weights (h·points, d), value_proj and output_proj (d, d).
    """
    square = Linear(d, d, True)
    return block(
        "attention",
        sampling_offsets=Linear(d, heads * points * 2, True),
        attention_weights=Linear(d, heads * points, True),
        value_proj=square,
        output_proj=square,
        **more,
    )


def mask_head(d: int, heads: int, levels: Sequence[int]) -> Block:
    """DETR's head for masks: attention of queries to places, and convolutions over ever finer features.

    Tensors: mask_head with lay1 to lay5, gn1 to gn5, adapter1 to adapter3 and out_lay; bbox_attention with q_linear
    and k_linear (d, d).
    """
    widths, steps = [d + heads, d + heads, d // 2, d // 4, d // 8, d // 16], dict[str, Block]()
    for number, (into, out) in enumerate(pairwise(widths), 1):
        steps |= {f"lay{number}": conv(into, out, 3, bias=True), f"gn{number}": layer_norm(out)}
    for number, width in enumerate(levels, 1):
        steps[f"adapter{number}"] = conv(width, widths[number + 1], 1, bias=True)
    steps["out_lay"] = conv(widths[-1], 1, 3, bias=True)
    square = Linear(d, d, True)
    return block("other", mask_head=Block(steps), bbox_attention=block(q_linear=square, k_linear=square))


def tied_perceptron(to: str, *widths: int) -> Block:
    """Second names of a `perceptron` called `to`."""
    layers: dict[str, Node] = {}
    for place, (into, out) in enumerate(pairwise(widths)):
        name = f"{to}.layers.{place}"
        layers[str(place)] = (Tied(f"{name}.weight", (out, into)), Tied(f"{name}.bias", (out,), name="bias"))
    return block("other", layers=Block(layers))


def leveled(widths: Sequence[int], d: int, levels: int) -> Block:
    """Features of a backbone as `d` channels, and further levels made of the last; if one level is asked for, the last.

    Tensors: 0 (d, width, 1, 1) or (d, width, 3, 3), and 1 (d), with biases.
    """
    steps = [(width, 1) for width in widths] if levels > 1 else [(widths[-1], 1)]
    steps += [(d if place else widths[-1], 3) for place in range(max(0, levels - len(widths)) if levels > 1 else 0)]
    made = {
        str(place): Block({"0": conv(into, d, side, bias=True), "1": layer_norm(d)})
        for place, (into, side) in enumerate(steps)
    }
    return Block(made, "projector")


def second_names(count: int, classes: int, *widths: int) -> dict[str, Node]:
    """Second names of the predictions of each layer of `model.decoder`, which the model around it has, too."""
    where, known = "model.decoder", [str(place) for place in range(min(int(count), _NAMED))]
    inputs = widths[0]
    labels: dict[str, Node] = {
        place: (
            Tied(f"{where}.class_embed.{place}.weight", (classes, inputs), "other"),
            Tied(f"{where}.class_embed.{place}.bias", (classes,), "other", name="bias"),
        )
        for place in known
    }
    boxes = {place: tied_perceptron(f"{where}.bbox_embed.{place}", *widths) for place in known}
    return {"class_embed": Block(labels), "bbox_embed": Block(boxes)}
