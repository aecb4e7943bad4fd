"""TextNet: stages of square and oblong convolutions side by side, found by search (arXiv:2111.02394)."""

from itertools import pairwise
from typing import Any, NamedTuple

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import batch_norm, conv, normed
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("textnet",)  # transformers 5.23: modeling_textnet.py
IGNORED = ("image_size", "stem_stride", "depths", "out_indices")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")
_SQUARE, _HIGH, _WIDE = [3, 3], [3, 1], [1, 3]
_KERNELS = [
    [_SQUARE, _SQUARE, _SQUARE],
    [_SQUARE, _WIDE, _SQUARE, _HIGH],
    [_SQUARE, _SQUARE, _HIGH, _WIDE],
    [_SQUARE, _HIGH, _WIDE, _SQUARE],
]
_STRIDES = [[1, 2, 1], [2, 1, 1, 1], [2, 1, 1, 1], [2, 1, 1, 1]]


class Kernel(NamedTuple):
    """A convolution: height, width, whether it keeps places as they are."""

    high: int
    wide: int
    kept: bool


def _stages(c: Config) -> tuple[tuple[Kernel, ...], ...]:
    (kernels, strides), stages = _listed(c), list[tuple[Kernel, ...]]()
    for sides, steps in zip(kernels, strides, strict=False):
        if not isinstance(sides, list) or not isinstance(steps, list) or not all(map(_is_kernel, sides)):
            text = "conv_layer_kernel_sizes must name a height and a width for each convolution of each stage."
            raise c.malformed(text, "conv_layer_kernel_sizes")
        stages.append(tuple(Kernel(side[0], side[1], step == 1) for side, step in zip(sides, steps, strict=False)))
    if len(strides) < len(kernels):
        raise c.error(
            "list-length", "conv_layer_strides has fewer stages than conv_layer_kernel_sizes.", "conv_layer_strides"
        )
    return tuple(stages)


def _listed(c: Config) -> tuple[list[Any], list[Any]]:
    """The kernels and the strides of each stage."""
    return c.entries("conv_layer_kernel_sizes") or _KERNELS, c.entries("conv_layer_strides") or _STRIDES


class TextNet(Sizes):
    """Sizes specific to TextNet; `widths` are those of the stem and of each stage."""

    stem_num_channels: int = size("C")
    stem_out_channels: int = size("d0")
    stem_kernel_size: int = size("w")
    stages: tuple[tuple[Kernel, ...], ...] = derived(_stages)
    widths: tuple[int, ...]


def spec(c: Config) -> Spec[TextNet]:
    sizes = TextNet.read(c, widths=tuple(keys.each(c, "hidden_sizes", len(_listed(c)[0]) + 1, "d")))
    d = keys.dim("d", c.ints("hidden_sizes")[-1])
    return keys.imaging(c, (), _HEADS, hidden=d, uncounted=keys.COARSER).having(sizes)


def _is_kernel(given: Any) -> bool:
    return isinstance(given, list) and len(given) == 2 and all(type(side) is int and side > 0 for side in given)


def blueprint(s: Spec[TextNet]) -> Block:
    of, stages = s.own, dict[str, Block]()

    def layer(inputs: int, d: int, kernel: Kernel) -> Block:
        high, wide = kernel.high, kernel.wide
        tall, broad = wide != 1, high != 1
        return block(
            main_conv=conv(inputs, d, high, wide),
            main_batch_norm=batch_norm(d),
            vertical_conv=conv(inputs, d, high, 1) if tall else None,
            vertical_batch_norm=batch_norm(d) if tall else None,
            horizontal_conv=conv(inputs, d, 1, wide) if broad else None,
            horizontal_batch_norm=batch_norm(d) if broad else None,
            rbr_identity=batch_norm(inputs) if kernel.kept and inputs == d else None,
        )

    for number, (kernels, (before, d)) in enumerate(zip(of.stages, pairwise(of.widths), strict=True)):
        layers, inputs = dict[str, Block](), before
        for place, kernel in enumerate(kernels):
            layers[str(place)] = layer(inputs, d, kernel)
            inputs = d
        stages[str(number)] = block(stage=Block(layers))
    names, side = ("conv", "batch_norm"), of.stem_kernel_size
    stem = normed(of.stem_num_channels, of.stem_out_channels, side, names=names)
    body = block(stem=stem, encoder=block(stages=Block(stages)))
    if s.head == "backbone":
        return block(textnet=body)
    return headed(s, "textnet", body, image_classification=block(fc=classifier(s)))
