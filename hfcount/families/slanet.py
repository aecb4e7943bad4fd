"""SLANet: reads a table's structure from PP-LCNet's features at several scales (PaddleOCR, arXiv:2210.05391)."""

from hfcount import families, keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts.convolution import normed
from hfcount.parts.tables import structure
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("slanet",)  # transformers 5.23: modeling_slanet.py
IGNORED = ("max_text_length",)

_HEADS = keys.named(ForTableRecognition="base")
_SKIPPED = 1  # the first stage, whose features are not read


def spec(c: Config) -> Spec:
    seen, d = keys.only(c, families.part(c, "backbone_config"), "pp_lcnet"), c.int("hidden_size")
    traits = {
        "post_conv_out_channels": keys.sized("C_o", c.int("post_conv_out_channels")),
        "csp_kernel_size": keys.sized("w", c.int("csp_kernel_size")),
        "csp_num_blocks": keys.sized("N_b", c.int("csp_num_blocks", minimum=0, maximum=MAX_LAYERS)),
    }
    words, parts, why = c.int("out_channels"), {"backbone": seen}, keys.COARSER
    return keys.imaging(c, (), _HEADS, vocab=words, hidden=d, parts=parts, traits=traits, uncounted=why)


def blueprint(s: Spec) -> Block:
    seen, of, d = s.parts["backbone"], s.traits, s.traits["post_conv_out_channels"]
    side, half, count = of["csp_kernel_size"], d // 2, of["csp_num_blocks"]

    def separable(width: int) -> Block:
        first, second = normed(width, width, side, groups=width), normed(width, width, 1)
        return block(depthwise_convolution=first, pointwise_convolution=second)

    bottleneck = block(conv1=normed(half, half, 1), conv2=separable(half))
    joined = block(
        conv1=normed(2 * d, half, 1),
        conv2=normed(2 * d, half, 1),
        conv3=normed(2 * half, d, 1),
        bottlenecks=Repeat(Indices.below(count), bottleneck) if count else None,
    )
    widths = [seen.traits[f"features.{stage}"] for stage in range(_SKIPPED, seen.traits["stages"])]
    between = Indices.below(max(0, len(widths) - 1))
    neck = block(
        channel_projector=Block({str(number): normed(width, d, 1) for number, width in enumerate(widths)}),
        top_down_blocks=Repeat(between, joined),
        downsamples=Repeat(between, separable(d)),
        bottom_up_blocks=Repeat(between, joined),
    )
    backbone = block(vision_backbone=families.tree(seen), post_csp_pan=neck)
    return block(backbone=backbone, head=structure(d, s.hidden, s.vocab))
