"""SuperPoint: convolutions that find points of interest and describe them (arXiv:1712.07629)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("superpoint",)  # transformers 5.23: modeling_superpoint.py
IGNORED = ("max_keypoints", "nms_radius", "border_removal_distance")

_HEADS = keys.named(ForKeypointDetection="base")
_BRIGHTNESS = 1  # the channels of an image


class SuperPoint(Sizes):
    """Sizes specific to SuperPoint; `widths` are those of its stages."""

    widths: tuple[int, ...]
    keypoint_decoder_dim: int = size("d_k")
    descriptor_decoder_dim: int = size("d_d")


def spec(c: Config) -> Spec[SuperPoint]:
    count = len(c.ints("encoder_hidden_sizes"))
    if count < 2:
        raise c.error(
            "list-length", "encoder_hidden_sizes must name 2 sizes or more.", "encoder_hidden_sizes", observed=count
        )
    sizes = keys.each(c, "encoder_hidden_sizes", count, "C")
    model_sizes = SuperPoint.read(c, widths=tuple(sizes))
    d = c.int("decoder_hidden_size")
    return keys.imaging(c, (), _HEADS, hidden=d, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[SuperPoint]) -> Block:
    of, d, before, blocks = s.own, s.hidden, _BRIGHTNESS, dict[str, Block]()
    for number, width in enumerate(of.widths):
        blocks[str(number)] = block(conv_a=conv(before, width, 3, bias=True), conv_b=conv(width, width, 3, bias=True))
        before = width
    wide = conv(before, d, 3, bias=True)
    points, described = (conv(d, out, 1, bias=True) for out in (of.keypoint_decoder_dim, of.descriptor_decoder_dim))
    return block(
        encoder=block(conv_blocks=Block(blocks)),
        keypoint_decoder=block(conv_score_a=wide, conv_score_b=points),
        descriptor_decoder=block(conv_descriptor_a=wide, conv_descriptor_b=described),
    )
