"""RepVGG: stages of convolutions, of which a config may spell out every block (arXiv:2101.03697)."""

from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple, Self

from hfcount.architectures.keys import each
from hfcount.architectures.layers.convolution import batch_norm, normed
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

_BRIGHTNESS = 1  # the channels of an image


class Run(NamedTuple):
    """Blocks that are alike and follow each other: how many, their channels, whether they also add what they read."""

    many: int
    inputs: int
    outputs: int
    plain: bool

    def tensors(self, start: int) -> Repeat:
        """Its blocks, of which the first has the number `start`; for their tensors see `RepVGG`."""
        wide, narrow = (normed(self.inputs, self.outputs, side, names=("conv", "norm")) for side in (3, 1))
        layer = block(conv1=wide, conv2=narrow, identity=batch_norm(self.inputs) if self.plain else None)
        return Repeat(Indices(range(start, start + int(self.many)), self.many), layer)


class RepVGG(Record):
    """The runs of blocks of each stage."""

    stages: tuple[tuple[Run, ...], ...]

    @classmethod
    def read(cls, c: Config) -> Self:
        """By stage_num_blocks, stage_stride and out_features.

        Unless stage_block_stride, stage_block_in_channels and stage_block_out_channels say it of every block.
        """
        steps = c.ints("stage_stride", default=(2, 1, 2, 2))
        count = len(steps)
        depths = each(c, "stage_num_blocks", count, "n", default=(1, 2, 4, 14))
        widths = each(c, "out_features", count, "C", default=(64, 64, 128, 256))
        stages, before = list[tuple[Run, ...]](), _BRIGHTNESS
        for stage, (depth, width) in enumerate(zip(depths, widths, strict=True)):
            usual = ((steps[stage], 1), (before, width), (width, width))
            stages.append(_runs(c, stage, depth, usual))
            before = width
        return cls(stages=tuple(stages))

    def tensors(self) -> Block:
        """Its tensors.

        Under stages, blocks: conv1 (out, in, 3, 3) and conv2 (out, in, 1, 1) with norms, identity, a norm.
        """
        stages = dict[str, Block]()
        for stage, runs in enumerate(self.stages):
            starts = accumulate((int(run.many) for run in runs), initial=0)
            built = tuple(run.tensors(start) for run, start in zip(runs, starts, strict=False))
            stages[str(stage)] = block(blocks=built)
        return block(stages=Block(stages))


_KEYS = ("stage_block_stride", "stage_block_in_channels", "stage_block_out_channels")


def _runs(c: Config, stage: int, depth: int, usual: Sequence[tuple[int, int]]) -> tuple[Run, ...]:
    """The blocks of a stage; `usual` are stride and channels of the first block, and of each other."""
    spelled = [_spelled(c, key, stage, depth) for key in _KEYS]
    if not any(spelled):
        numbers = [(1, 0), (depth - 1, 1)]
        runs = [(many, [shape[place] for shape in usual]) for many, place in numbers if depth > place]
    else:
        blocks = [
            [written[place] if written else sizes[min(place, 1)] for written, sizes in zip(spelled, usual, strict=True)]
            for place in range(int(depth))
        ]
        runs = [(len(list(alike)), sizes) for sizes, alike in groupby(blocks)]
        runs = [(depth, runs[0][1])] if len(runs) == 1 else runs
    return tuple(Run(many, before, after, before == after and step == 1) for many, (step, before, after) in runs)


def _spelled(c: Config, key: str, stage: int, depth: int) -> list[int] | None:
    """The values of a key for each block of a stage; None if the config lacks the key."""
    if not c.given(key):
        return None
    given: list[Any] = c.entries(key)
    listed = given[stage] if stage < len(given) else None
    if not isinstance(listed, list) or len(listed) < depth or any(type(size) is not int or size < 1 for size in listed):
        text = f"{key} must name a size for each of the {depth:,} blocks of stage {stage}."
        raise c.error("list-length", text, key, "Correct it, or remove the key.")
    letter = {"stage_block_in_channels": "a", "stage_block_out_channels": "b"}.get(key)
    named = {size: f"{c.path(key)}[{stage}][{listed.index(size)}]" for size in set(listed)}
    before = 1 + sum(len(earlier) for earlier in given[:stage])  # which the same check has found to be lists
    return [
        Dim.named(f"{letter}{before + listed.index(size)}", size, named[size]) if letter else size for size in listed
    ]
