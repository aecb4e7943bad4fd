"""PP-OCR's small detectors of text: a backbone, a neck with squeeze and excitation, a head (arXiv:1911.08947)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.architectures.layers.ocr import scoring, squeezing
from hfcount.architectures.models.pp_lcnet import PpLcnet
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_pp_ocrv5_mobile_det.py, modeling_pp_ocrv6_small_det.py
MODEL_TYPES = ("pp_ocrv5_mobile_det", "pp_ocrv6_small_det")

_HEADS = keys.named(("Model",), ForObjectDetection="image_to_image")
_LEVELS = "layer_list_out_channels"


class PpOcrMobileDet(Sizes):
    """Sizes specific to PP-OCR's small detectors.

    `dilated` is a kernel of version 6, `widths` are those of the levels, and `taken` what version 5 makes them of.
    """

    reduction: int = size("r")
    dilated: int | None = derived(
        lambda c: None if c.family == "pp_ocrv5_mobile_det" else keys.dim("w", c.int("dilated_kernel_size"))
    )
    widths: tuple[int, ...] = derived(lambda c: tuple(keys.each(c, _LEVELS, len(c.ints(_LEVELS)), "C")))
    kernels: tuple[int, ...] = derived(lambda c: tuple(keys.each(c, "kernel_list", 3)))
    taken: tuple[int, ...] = ()


def spec(c: Config) -> Spec[PpOcrMobileDet]:
    fifth, count = c.family == "pp_ocrv5_mobile_det", len(c.ints(_LEVELS))
    vision = backbones.only(c, families.part(c, "backbone_config"), "pp_lcnet_v3" if fifth else "pp_lcnet_v4")
    sizes = PpOcrMobileDet.read(c)
    if fifth:
        features = vision.sizes(PpLcnet).blocks.features
        stages = ["stem", *(f"stage{number + 1}" for number in range(len(features)))]
        given = backbones.outputs(c.part("backbone_config"), stages)
        if 0 in given or len(given) > count:
            raise c.error(
                "unknown-kind",
                "out_features must name stages, and no more than layer_list_out_channels.",
                "backbone_config",
            )
        sizes = sizes.replace(taken=tuple(features[place - 1] for place in given))
    d = c.int("neck_out_channels")
    return keys.imaging(c, (), _HEADS, hidden=d, parts={"backbone": vision}, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[PpOcrMobileDet]) -> Block:
    of, d, reduction, narrow = s.own, s.hidden, s.own.reduction, s.hidden // 4

    def fused(inputs: int, outputs: int, side: int) -> Block:
        return block(in_conv=conv(inputs, outputs, side), squeeze_excitation_block=squeezing(outputs, reduction))

    narrowed = fused(d, narrow, 3)
    if of.dilated is not None:
        narrowed = block(
            depthwise_convolution=depthwise(d, of.dilated, bias=True),
            squeeze_excitation_module=squeezing(narrow, reduction),
            pointwise_convolution=conv(d, narrow, 1),
        )
    neck = block(
        insert_conv=Block({str(number): fused(width, d, 1) for number, width in enumerate(of.widths)}),
        input_conv=Block({str(number): narrowed for number in range(len(of.widths))}),
    )
    laid = {
        str(number): conv(made, width, 1, bias=True)
        for number, (made, width) in enumerate(zip(of.taken, of.widths, strict=False))
    }
    body = block(backbone=families.tree(s.part("backbone")), layer=Block(laid) if laid else None, neck=neck)
    head = scoring(d, *of.kernels)
    return headed(s, "model", body, image_to_image=block(head=head))
