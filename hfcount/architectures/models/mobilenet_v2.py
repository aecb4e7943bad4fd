"""MobileNetV2: layers that widen, convolve each channel alone, and narrow again (arXiv:1801.04381)."""

from itertools import pairwise

from hfcount.architectures import keys
from hfcount.architectures.components.inverted import Neck
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import normed
from hfcount.architectures.layers.segmentation import labelling
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("mobilenet_v2",)  # transformers 5.23: modeling_mobilenet_v2.py
IGNORED = ("image_size", "tf_padding", "output_stride", "semantic_loss_ignore_index")

_HEADS = keys.named(("ForImageClassification", "Model"), ForSemanticSegmentation="semantic_segmentation")
_WIDTHS = (16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320)
_STEM, _LAST, _POOLED = 32, 1280, 256


def _width(c: Config, symbol: str, base: int) -> int:
    factor, step, least = c.number("depth_multiplier"), c.int("depth_divisible_by"), c.int("min_depth")
    made = keys.rounded(round(base * factor), step, least)
    return keys.derived_dim(c, symbol, made, f"{base} · {{depth_multiplier}}, rounded, {keys.channels(step, least)}")


def _necks(c: Config) -> tuple[Neck, ...]:
    step, least = c.int("depth_divisible_by"), c.int("min_depth")
    widths = [_width(c, f"C{number}", base) for number, base in enumerate(_WIDTHS)]
    return tuple(Neck.read(c, number, width, step=step, least=least) for number, width in enumerate(widths))


class MobilenetV2(Sizes):
    """Sizes specific to MobileNetV2; `stem` and `last` are channels before and behind its layers."""

    num_channels: int = size("C")
    first_layer_is_expansion: bool = flag(absent=True)
    necks: tuple[Neck, ...] = derived(_necks)
    stem: int
    last: int


def spec(c: Config) -> Spec[MobilenetV2]:
    stem = _width(c, "C_s", _STEM)
    fine = c.bool("finegrained_output", default=True) and c.number("depth_multiplier") < 1
    last = keys.dim("C_l", _LAST) if fine else _width(c, "C_l", _LAST)
    sizes = MobilenetV2.read(c, stem=stem, last=last)
    return keys.imaging(c, (), _HEADS, hidden=last, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[MobilenetV2]) -> Block:
    of, layers = s.own, dict[str, Block]()
    stem, last = of.stem, of.necks[-1].width
    for number, (before, after) in enumerate(pairwise(of.necks)):
        layers[str(number)] = before.tensors(after.width)
    first = block(
        first_conv=normed(of.num_channels, stem, 3),
        expand_1x1=None if of.first_layer_is_expansion else normed(stem, stem, 1),
        conv_3x3=normed(stem, stem, 3, groups=stem),
        reduce_1x1=normed(stem, of.necks[0].width, 1),
    )
    body = block(conv_stem=first, layer=Block(layers), conv_1x1=normed(last, of.last, 1))
    pooled = normed(last, _POOLED, 1)
    places = block(
        conv_pool=pooled,
        conv_aspp=pooled,
        conv_projection=normed(2 * _POOLED, _POOLED, 1),
        classifier=block(convolution=labelling(_POOLED, s.labels)),
    )
    labels = block(classifier=classifier(s))
    heads = {"image_classification": labels, "semantic_segmentation": block(segmentation_head=places)}
    return headed(s, "mobilenet_v2", body, **heads)
