"""SLANet: reads a table's structure from PP-LCNet's features at several scales (PaddleOCR, arXiv:2210.05391)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones
from hfcount.architectures.layers.convolution import normed
from hfcount.architectures.layers.tables import structure
from hfcount.architectures.models.pp_lcnet import PpLcnet
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("slanet",)  # transformers 5.23: modeling_slanet.py
IGNORED = ("max_text_length",)

_HEADS = keys.named(ForTableRecognition="base")
_SKIPPED = 1  # the first stage, whose features are not read


class Slanet(Sizes):
    post_conv_out_channels: int = size("C_o")
    csp_kernel_size: int = size("w")
    csp_num_blocks: int = count("N_b", minimum=0)


def spec(c: Config) -> Spec[Slanet]:
    vision, d = backbones.only(c, families.part(c, "backbone_config"), "pp_lcnet"), c.int("hidden_size")
    sizes = Slanet.read(c)
    words, parts, why = c.int("out_channels"), {"backbone": vision}, keys.COARSER
    return keys.imaging(c, (), _HEADS, vocab=words, hidden=d, parts=parts, uncounted=why).having(sizes)


def blueprint(s: Spec[Slanet]) -> Block:
    lcnet, d = s.part("backbone"), s.own.post_conv_out_channels
    side, half, depth = s.own.csp_kernel_size, d // 2, s.own.csp_num_blocks

    def separable(width: int) -> Block:
        first, second = normed(width, width, side, groups=width), normed(width, width, 1)
        return block(depthwise_convolution=first, pointwise_convolution=second)

    bottleneck = block(conv1=normed(half, half, 1), conv2=separable(half))
    joined = block(
        conv1=normed(2 * d, half, 1),
        conv2=normed(2 * d, half, 1),
        conv3=normed(2 * half, d, 1),
        bottlenecks=Repeat(Indices.below(depth), bottleneck) if depth else None,
    )
    widths = lcnet.sizes(PpLcnet).blocks.features[_SKIPPED:]
    between = Indices.below(max(0, len(widths) - 1))
    neck = block(
        channel_projector=Block({str(number): normed(width, d, 1) for number, width in enumerate(widths)}),
        top_down_blocks=Repeat(between, joined),
        downsamples=Repeat(between, separable(d)),
        bottom_up_blocks=Repeat(between, joined),
    )
    backbone = block(vision_backbone=families.tree(lcnet), post_csp_pan=neck)
    return block(backbone=backbone, head=structure(d, s.hidden, s.vocab))
