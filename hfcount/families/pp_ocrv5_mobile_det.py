"""PP-OCR's small detectors of text: a backbone, a neck with squeeze and excitation, a head (arXiv:1911.08947)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.classic import headed
from hfcount.parts.convolution import conv, depthwise
from hfcount.parts.ocr import scoring, squeezing
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_pp_ocrv5_mobile_det.py, modeling_pp_ocrv6_small_det.py
MODEL_TYPES = ("pp_ocrv5_mobile_det", "pp_ocrv6_small_det")

_HEADS = keys.named(("Model",), ForObjectDetection="image_to_image")


def spec(c: Config) -> Spec:
    fifth, count = c.family == "pp_ocrv5_mobile_det", len(c.ints("layer_list_out_channels"))
    seen = keys.only(c, families.part(c, "backbone_config"), "pp_lcnet_v3" if fifth else "pp_lcnet_v4")
    traits = {
        "levels": count,
        "reduction": keys.sized("r", c.int("reduction")),
        "side": 0 if fifth else keys.sized("w", c.int("dilated_kernel_size")),
        **{f"in.{n}": width for n, width in enumerate(keys.each(c, "layer_list_out_channels", count, "C"))},
        **{f"kernel.{n}": side for n, side in enumerate(keys.each(c, "kernel_list", 3))},
    }
    if fifth:
        stages = ["stem", *(f"stage{number + 1}" for number in range(seen.traits["stages"]))]
        given = keys.outputs(c.part("backbone_config"), stages)
        if 0 in given or len(given) > count:
            raise c.error("out_features must name stages, and no more than layer_list_out_channels.", "backbone_config")
        traits |= {f"from.{n}": seen.traits[f"features.{place - 1}"] for n, place in enumerate(given)}
    d = c.int("neck_out_channels")
    return keys.imaging(c, (), _HEADS, hidden=d, parts={"backbone": seen}, traits=traits, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    of, d, reduction, narrow = s.traits, s.hidden, s.traits["reduction"], s.hidden // 4

    def fused(inputs: int, outputs: int, side: int) -> Block:
        return block(in_conv=conv(inputs, outputs, side), squeeze_excitation_block=squeezing(outputs, reduction))

    dilated = block(
        depthwise_convolution=depthwise(d, of["side"], bias=True),
        squeeze_excitation_module=squeezing(narrow, reduction),
        pointwise_convolution=conv(d, narrow, 1),
    )
    levels = range(of["levels"])
    neck = block(
        insert_conv=Block({str(number): fused(of[f"in.{number}"], d, 1) for number in levels}),
        input_conv=Block({str(number): dilated if of["side"] else fused(d, narrow, 3) for number in levels}),
    )
    laid = {
        str(number): conv(of[f"from.{number}"], of[f"in.{number}"], 1, bias=True)
        for number in levels
        if f"from.{number}" in of
    }
    body = block(backbone=families.tree(s.parts["backbone"]), layer=Block(laid) if laid else None, neck=neck)
    head = scoring(d, of["kernel.0"], of["kernel.1"], of["kernel.2"])
    return headed(s, "model", body, image_to_image=block(head=head))
