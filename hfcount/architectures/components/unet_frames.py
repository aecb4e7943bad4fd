"""The stages of diffusers' video U-Nets: layers over frames beside those over images."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from hfcount.architectures.components.unet_keys import (
    Depths,
    Stage,
    StageKind,
    Stages,
    check_depths,
    check_heads,
    depths,
    each,
)
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.convolution import conv as convolution
from hfcount.architectures.layers.convolution import led
from hfcount.architectures.layers.diffusion.layers import joined, numbered, resampling, residual
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

PLAIN, TEXT = StageKind(), StageKind("text")


def kinds(c: Config, end: str, widths: Sequence[int]) -> tuple[tuple[StageKind, ...], tuple[StageKind, ...]]:
    """The kinds of stages down and up, of names that end in `end`: those that attend to text, and others.

    Raises:
        ConfigError: there are not as many as widths, or one is unknown.
    """
    both = list[tuple[StageKind, ...]]()
    for way in ("Down", "Up"):
        key, known = f"{way.lower()}_block_types", {f"{way}Block{end}": PLAIN, f"CrossAttn{way}Block{end}": TEXT}
        names = diffusion.stage_kinds(c, key, known, len(widths))
        if len(names) != len(widths):
            raise c.unequal(key, len(names), "the number of entries of block_out_channels", len(widths))
        both.append(names)
    return both[0], both[1]


class Columns(Record):
    """The per-stage settings beside widths and kinds; heads are read from `key`."""

    key: str
    layers: Sequence[int]
    heads: Sequence[int]
    memory: Sequence[int]

    @classmethod
    def read(cls, c: Config, key: str, count: int) -> "Columns":
        """By the keys of these names."""
        return cls(
            key=key,
            layers=each(c, "layers_per_block", "L", count),
            heads=each(c, key, "h", count),
            memory=each(c, "cross_attention_dim", "d_c", count),
        )


def read_stages(c: Config, end: str, key: str, exactly: bool = False) -> Stages:
    """The stages by their keys, with kinds as of `kinds` and heads by `key`.

    Without keys of their own, the layers of transformers on the way up are those on the way down, from their end;
    `exactly` says whether a list of them has to be as long as there are transformers.

    Raises:
        ConfigError: a list has not an entry for each stage, or a kind is unknown.
    """
    widths = diffusion.stage_widths(c)
    down, up = kinds(c, end, widths)
    columns = Columns.read(c, key, len(widths))
    deep, back = both_depths(c, "transformer_layers_per_block", len(widths), exactly)

    def stages(kinds: Sequence[StageKind], step: int) -> tuple[Stage, ...]:
        rows = zip(
            kinds, *(column[::step] for column in (widths, columns.layers, columns.heads, columns.memory)), strict=True
        )
        made = list[Stage]()
        for (kind, width, layers, heads, memory), depth in zip(rows, deep if step > 0 else back, strict=False):
            if kind.attends:
                check_heads(c, key, heads, width)
                check_depths(c, depth, layers + (step < 0), exactly)
            made.append(stage(kind, width, layers, heads, memory).replace(depths=depth.each))
        return tuple(made)

    way = stages(down, 1)
    check_heads(c, key, way[-1].heads, way[-1].width)
    middle = way[-1].replace(kind=TEXT, depths=deep[-1].each[:1], layers=1)
    return Stages(down=way, middle=middle, up=stages(up, -1))


def both_depths(
    c: Config, key: str, count: int, reversible: bool, symbol: str = "T"
) -> tuple[list[Depths], list[Depths]]:
    """The layers of the transformers in each stage on the way down, and on the way up, from its deep end.

    These are the same from the end, but for a `reversible` key, of which there may be a second for the way up.

    Raises:
        ConfigError: a stage has a list, which is one entry short on the way up, and the second key is null.
    """
    deep, upward = depths(c, key, count, symbol), f"reverse_{key}"
    if reversible and not c.is_null(upward):
        return deep, depths(c, upward, count, symbol)
    if reversible and any(depth.listed for depth in deep):
        raise c.error("contradiction", f"{key} has lists, and {upward} is null.", upward, "Give it too.")
    return deep, deep[::-1]


def stage(kind: StageKind, width: int, layers: int, heads: int, memory: int) -> Stage:
    """A stage without transformers, to which these are still to be given."""
    return Stage(kind=kind, width=width, layers=layers, heads=heads, head_dim=1, depths=(), memory=memory, only=False)


Body = Callable[[int, int], Block]
"""A function that builds a residual block from its input and output widths."""

Beside = Callable[[Stage, int], Mapping[str, Node | None]]
"""A function that builds the children of a stage beside its residual blocks, given their number."""


def way_down(stages: Sequence[Stage], body: Body, beside: Beside) -> Block:
    """The way down: down_blocks, of which each but the last halves the image."""
    made, last = list[Node](), len(stages) - 1
    for place, (before, stage) in enumerate(pairwise((stages[0], *stages))):
        blocks = led(stage.layers, body(before.width, stage.width), body(stage.width, stage.width))
        after = resampling(stage.width) if place != last else None
        made.append(block(resnets=blocks, **beside(stage, stage.layers), downsamplers=after))
    return numbered(made)


def way_up(stages: Sequence[Stage], body: Body, beside: Beside) -> Block:
    """The way up: up_blocks, each of which also reads the output of its stage on the way down."""
    made, before = list[Node](), stages[0].width
    for stage, after in pairwise((*stages, None)):
        assert stage is not None
        wide = stage.width if after is None else after.width
        blocks = joined(before, stage.width, wide, stage.layers, body)
        up = None if after is None else resampling(stage.width)
        made.append(block(resnets=blocks, **beside(stage, stage.layers + 1), upsamplers=up))
        before = stage.width
    return numbered(made)


def between(stage: Stage, body: Body, beside: Beside, count: int = 1) -> Block:
    """The middle: as many transformers as `count` says, between residual blocks."""
    square = body(stage.width, stage.width)
    return block(resnets=led(count + 1, square, square), **beside(stage, count))


def over_frames(inputs: int, outputs: int) -> Block:
    """A convolution over three frames. Tensors: weight (outputs, inputs, 3, 1, 1), bias (outputs)."""
    return convolution(inputs, outputs, 3, 1, 1, bias=True)


def frame_residual(d: int, time: int | None) -> Block:
    """A residual block over frames. Tensors: norm1, conv1, time_emb_proj if it reads a step, norm2, conv2."""
    return block(
        norm1=layer_norm(d),
        conv1=over_frames(d, d),
        time_emb_proj=None if time is None else Linear(time, d, True, "embedding"),
        norm2=layer_norm(d),
        conv2=over_frames(d, d),
    )


def mixed(inputs: int, outputs: int, time: int | None) -> Block:
    """Two residual blocks, over places and over frames, and the factor that mixes their outputs."""
    return block(
        spatial_res_block=residual(inputs, outputs, time),
        temporal_res_block=frame_residual(outputs, time),
        time_mixer=block(mix_factor=Tensor((1,))),
    )
