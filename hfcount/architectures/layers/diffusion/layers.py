"""Parts of diffusers' models: embeddings of time, attention, networks, residual convolutions and stages of them."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.vision import convolution
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

OLD_ATTENTION = {
    r"(attentions\.\d+)\.query\.": r"\1.to_q.",
    r"(attentions\.\d+)\.key\.": r"\1.to_k.",
    r"(attentions\.\d+)\.value\.": r"\1.to_v.",
    r"(attentions\.\d+)\.proj_attn\.": r"\1.to_out.0.",
}
"""SPELLINGS of blocks that once named their attention otherwise; source: modeling_utils.py of diffusers 0.42.1."""


def numbered(nodes: Sequence[Node]) -> Block:
    """A block with children named 0, 1, 2 and so on."""
    return Block({str(place): node for place, node in enumerate(nodes)})


def conv(inputs: int, outputs: int, side: int = 3) -> Block:
    """A convolution, of component convolution. Tensors: weight (outputs, inputs, side, side), bias (outputs)."""
    return Block(convolution(inputs, outputs, side).children, "convolution")


def time_embedding(inputs: int, d: int, outputs: int | None = None, condition: int | None = None) -> Block:
    """The embedding of a timestep or another number. Tensors: linear_1 (d, inputs), linear_2 (outputs or d, d).

    With `condition`, also cond_proj (inputs, condition).
    """
    return block(
        "embedding",
        linear_1=Linear(inputs, d, True),
        cond_proj=None if condition is None else Linear(condition, inputs),
        linear_2=Linear(d, outputs or d, True),
    )


def feed_forward(d: int, inner: int, outputs: int | None = None, gated: bool = False, bias: bool = True) -> Block:
    """A network. Tensors: net.0.proj (inner, or twice as many if `gated`, d) and net.2 (outputs or d, inner)."""
    first = block(proj=Linear(d, 2 * inner if gated else inner, bias))
    return block("mlp", net=Block({"0": first, "2": Linear(inner, outputs or d, bias)}))


def attention(d: int, inner: int, memory: int | None = None, bias: bool = True, **more: Node | None) -> Block:
    """Attention, to an input of width `memory` if given. Tensors: to_q (inner, d), to_k, to_v and to_out.0 (d, inner).

    `bias` is of the first three; `more` are further children.
    """
    into = Linear(memory or d, inner, bias)
    return block(
        "attention",
        to_q=Linear(d, inner, bias),
        to_k=into,
        to_v=into,
        to_out=Block({"0": Linear(inner, d, True)}),
        **more,
    )


def residual(inputs: int, outputs: int, time: int | None = None, scaled: bool = False) -> Block:
    """A residual block of two convolutions. Tensors: norm1, conv1, norm2, conv2, and conv_shortcut if widths differ.

    With `time`, the width of the embedding of a step, also time_emb_proj (outputs, or twice as many if `scaled`, time).
    """
    return block(
        norm1=layer_norm(inputs),
        conv1=conv(inputs, outputs),
        time_emb_proj=None if time is None else Linear(time, 2 * outputs if scaled else outputs, True, "embedding"),
        norm2=layer_norm(outputs),
        conv2=conv(outputs, outputs),
        conv_shortcut=None if inputs == outputs else conv(inputs, outputs, 1),
    )


def residuals(before: int, d: int, count: int, time: int | None = None, scaled: bool = False) -> tuple[Node, ...]:
    """`count` residual blocks as of `residual`; the first has `before` inputs."""
    first, rest = Indices.below(min(1, count)), Indices(range(1, max(1, count)), count - 1)
    return Repeat(first, residual(before, d, time, scaled)), Repeat(rest, residual(d, d, time, scaled))


def joined(before: int, d: int, beside: int, count: int, body: Callable[[int, int], Block]) -> Node:
    """`count` + 1 residual blocks on the way up, each of which also reads an output of the way down.

    Args:
        before: the width of what the first takes.
        beside: the width of what the last reads besides; that of all others is `d`.
        body: builds a block from its input and output widths.
    """
    if not count:
        return numbered([body(before + beside, d)])
    inner = Repeat(Indices(range(1, int(count)), count - 1), body(d + d, d))
    first, last = Repeat(Indices.fixed(0), body(before + d, d)), Repeat(Indices.of([int(count)]), body(d + beside, d))
    return first, inner, last


def image_attention(d: int, inner: int | None = None) -> Block:
    """Attention among the places of an image. Tensors: group_norm (d) and those of `attention`."""
    return attention(d, d if inner is None else inner, group_norm=layer_norm(d))


def resampling(d: int) -> Block:
    """Downsampling or upsampling: one convolution, named 0."""
    return Block({"0": block(conv=conv(d, d))})


def middle(d: int, attends: bool) -> Block:
    """The middle of an autoencoder: two residual blocks, and attention between them if it `attends`."""
    both = Repeat(Indices.fixed(0, 1), residual(d, d))
    return block(attentions=numbered([image_attention(d)]) if attends else None, resnets=both)


def stage(before: int, d: int, count: int, attends: bool, **resample: Node | None) -> Block:
    """A stage of an autoencoder: `count` residual blocks, each with attention behind it if the stage `attends`."""
    places = Repeat(Indices.below(count), image_attention(d)) if attends else None
    return block(attentions=places, resnets=residuals(before, d, count), **resample)


def encoder(inputs: int, widths: Sequence[int], kinds: Sequence[bool], count: int, **ends: Node) -> Block:
    """Stages that downsample an image, one for each of `kinds`: whether it has attention.

    `widths` may name more; `ends` are the middle and what is behind it.
    """
    stages, last = list[Node](), len(widths) - 1
    for place, (before, d) in enumerate(pairwise((widths[0], *widths[: len(kinds)]))):
        down = resampling(d) if place != last else None
        stages.append(stage(before, d, count, kinds[place], downsamplers=down))
    return block(conv_in=conv(inputs, widths[0]), down_blocks=numbered(stages), **ends)


def decoder(inputs: int, widths: Sequence[int], kinds: Sequence[bool], count: int, **ends: Node) -> Block:
    """Stages that upsample it, with one more residual block each; `widths` are in the encoder's order."""
    stages, last, back = list[Node](), len(widths) - 1, widths[::-1]
    for place, (before, d) in enumerate(pairwise((back[0], *back[: len(kinds)]))):
        up = resampling(d) if place != last else None
        stages.append(stage(before, d, count + 1, kinds[place], upsamplers=up))
    return block(conv_in=conv(inputs, widths[-1]), up_blocks=numbered(stages), **ends)


def ending(d: int, outputs: int) -> dict[str, Node]:
    """The output layers: conv_norm_out (d) and conv_out (outputs, d, 3, 3)."""
    return {"conv_norm_out": layer_norm(d), "conv_out": conv(d, outputs)}


def hint(inputs: int, widths: Sequence[int], outputs: int) -> Block:
    """The embedding of a ControlNet's image: conv_in, two blocks from each width to the next, and conv_out."""
    blocks = [part for before, d in pairwise(widths) for part in (conv(before, before), conv(before, d))]
    return block(conv_in=conv(inputs, widths[0]), blocks=numbered(blocks), conv_out=conv(widths[-1], outputs))


def outlets(first: int, stages: Iterable[tuple[int, int]]) -> tuple[Node, ...]:
    """A ControlNet's convolution for each output of the way down: of conv_in (`first` channels) and of each stage.

    Args:
        stages: width and number of outputs of each.
    """
    outputs, place = [Repeat(Indices.fixed(0), conv(first, first, 1))], 1
    for width, count in stages:
        outputs.append(Repeat(Indices(range(place, place + int(count)), count), conv(width, width, 1)))
        place += int(count)
    return tuple(outputs)
