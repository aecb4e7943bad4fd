"""MobileNet: convolutions of each channel alone, and then of all channels at each place (arXiv:1704.04861)."""

from itertools import pairwise

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import normed
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import stated
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("mobilenet_v1",)  # transformers 5.23: modeling_mobilenet_v1.py
IGNORED = ("image_size", "tf_padding")

_HEADS = ("ForImageClassification", "Model")
_WIDER = (True, True, False, True, False, True, False, False, False, False, False, True, False)
"""Which of the 13 pairs of convolutions have twice as many channels as the one before; the first has 64."""


class MobilenetV1(Sizes):
    """Sizes specific to MobileNet; `widths` are those of the stem and of each pair of convolutions."""

    num_channels: int = size("C")
    widths: tuple[int, ...]


def spec(c: Config) -> Spec[MobilenetV1]:
    factor, least = c.number("depth_multiplier"), c.int("min_depth")
    base, widths = 32, list[int]()
    for number, wider in enumerate((False, *_WIDER)):
        base *= 1 + wider
        source, width = f"{base} · {{depth_multiplier}}, at least {stated(least)}", max(int(base * factor), least)
        widths.append(keys.derived_dim(c, f"C{number}", width, source))
    sizes = MobilenetV1.read(c, widths=tuple(widths))
    return keys.imaging(c, (), _HEADS, hidden=widths[-1], uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[MobilenetV1]) -> Block:
    of, layers = s.own, dict[str, Block]()
    for number, (before, d) in enumerate(pairwise(of.widths)):
        layers[str(2 * number)] = normed(before, before, 3, groups=before)
        layers[str(2 * number + 1)] = normed(before, d, 1)
    body = block(conv_stem=normed(of.num_channels, of.widths[0], 3), layer=Block(layers))
    return headed(s, "mobilenet_v1", body, image_classification=block(classifier=classifier(s)))
