"""PP-LCNet and what is built on it (arXiv:2109.15099)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

from hfcount.architectures.keys import channels, dim, rounded
from hfcount.architectures.layers.convolution import conv, normed
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, Tensor, block


def squeezing(channels: int, reduction: int) -> Block:
    """Squeeze and excitation (arXiv:1709.01507). Tensors under convolutions: 0 and 2, to C / `reduction` and back."""
    narrow = channels // reduction
    return block(
        convolutions=Block({"0": conv(channels, narrow, 1, bias=True), "2": conv(narrow, channels, 1, bias=True)})
    )


def affine_conv(inputs: int, outputs: int, side: int, groups: int = 1, affine: bool = False) -> Block:
    """A convolution and a batch normalisation, with `affine` a scale and a bias for all of its output in `lab`."""
    scalar = Tensor((1,), component="convolution")
    return altered(
        normed(inputs, outputs, side, groups=groups), lab=block(scale=scalar, bias=scalar) if affine else None
    )


def stem(first: int, middle: int, last: int, affine: bool) -> Block:
    """The stem of PP-HGNetV2. Tensors: stem1, stem2a, stem2b, stem3 and stem4, from `first` to `last` channels."""
    half = middle // 2
    return block(
        stem1=affine_conv(first, middle, 3, affine=affine),
        stem2a=affine_conv(middle, half, 2, affine=affine),
        stem2b=affine_conv(half, middle, 2, affine=affine),
        stem3=affine_conv(2 * middle, middle, 3, affine=affine),
        stem4=affine_conv(middle, last, 1, affine=affine),
    )


class Spelled(NamedTuple):
    """A block: its kernel, channels before and after, whether it keeps places as they are, whether it is squeezed."""

    side: int
    inputs: int
    outputs: int
    plain: bool
    squeezed: bool


class Blocks(Record):
    """The blocks of each stage, and the channels that a model around them takes each stage to make."""

    stages: tuple[tuple[Spelled, ...], ...]
    features: tuple[int, ...]

    @classmethod
    def read(cls, c: Config, usual: Sequence[Sequence[Any]], scaled: bool = True) -> Self:
        """By block_configs: for each stage lists of kernel, channels before and after, stride, squeezing.

        Args:
            usual: what it is where the key is absent.
            scaled: whether channels are multiplied by scale and rounded to divisor.
        """
        listed, factor, step = c.entries("block_configs") or usual, 1.0, 1
        if scaled:
            factor, step = c.number("scale", default=1), c.int("divisor", default=8)
        times = f" · {c.path('scale')}, {channels(step)}" if c.given("scale") and scaled else ""
        usually = "" if c.given("block_configs") else ", by default"
        stages, features, count = list[tuple[Spelled, ...]](), list[int](), 0
        for number, stage in enumerate(listed):
            blocks = stage if isinstance(stage, list) else []
            made = list[Spelled]()
            for place, shape in enumerate(blocks):
                _check(c, shape)
                count += 1
                before, after = (
                    Dim.named(
                        f"{name}{count}",
                        rounded(shape[side] * factor, step),
                        _written(c, number, place, side) + (times or usually),
                    )
                    for side, name in enumerate("ab", 1)
                )
                made.append(Spelled(shape[0], before, after, shape[3] == 1, bool(shape[4])))
            if not blocks:
                raise c.error("list-length", f"block_configs names no block for stage {number}.", "block_configs")
            last = Dim.named(f"f{number}", blocks[-1][2], _written(c, number, len(blocks) - 1, 2) + usually)
            # As the model around it takes them: not rounded to divisor.
            features.append(dim(f"f{number}", c.times("scale", last, default=1)) if scaled else last)
            stages.append(tuple(made))
        return cls(stages=tuple(stages), features=tuple(features))

    @property
    def outputs(self) -> int:
        """The channels that the last block makes."""
        return self.stages[-1][-1].outputs

    def tensors(self, build: Callable[[Spelled], Block]) -> dict[str, Block]:
        """The blocks of each stage, by number; `build` lays one out."""
        return {
            str(number): Block({str(place): build(shape) for place, shape in enumerate(stage)})
            for number, stage in enumerate(self.stages)
        }


def _written(c: Config, *places: int) -> str:
    return c.path("block_configs") + "".join(f"[{number}]" for number in places)


def _check(c: Config, any: Any) -> None:
    if not (isinstance(any, list) and len(any) == 5 and all(_is_size(size) for size in any[:3])):
        text = "block_configs must name five values for each block: its kernel, channels, stride and squeezing."
        raise c.malformed(text, "block_configs")


def _is_size(size: Any) -> bool:
    return type(size) is int and 0 < size < 2**32
