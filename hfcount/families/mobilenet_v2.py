"""MobileNetV2: layers that widen, convolve each channel alone, and narrow again (arXiv:1801.04381)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.classic import classifier, headed
from hfcount.parts.convolution import inverted, normed
from hfcount.parts.segmentation import labelling
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("mobilenet_v2",)  # transformers 5.23: modeling_mobilenet_v2.py
IGNORED = ("image_size", "tf_padding", "output_stride", "semantic_loss_ignore_index")

_HEADS = keys.named(("ForImageClassification", "Model"), ForSemanticSegmentation="semantic_segmentation")
_WIDTHS = (16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320)
_STEM, _LAST, _POOLED = 32, 1280, 256


def spec(c: Config) -> Spec:
    factor, step = c.number("depth_multiplier"), c.int("depth_divisible_by")
    least = c.int("min_depth")

    def width(symbol: str, base: int) -> int:
        made = keys.rounded(round(base * factor), step, least)
        return keys.worked(c, symbol, made, f"{base} · {{depth_multiplier}}, rounded to depth_divisible_by")

    fine = c.bool("finegrained_output", default=True) and factor < 1
    traits = {
        "num_channels": keys.sized("C", c.int("num_channels")),
        "first_layer_is_expansion": c.bool("first_layer_is_expansion", default=True),
        "stem": width("C_s", _STEM),
        "last": keys.sized("C_l", _LAST) if fine else width("C_l", _LAST),
    }
    ratio = c.number("expand_ratio")
    for number, base in enumerate(_WIDTHS):
        own = traits[f"width.{number}"] = width(f"C{number}", base)
        wide = keys.rounded(round(own * ratio), step, least)
        traits[f"wide.{number}"] = keys.worked(c, f"E{number}", wide, f"C{number} · {{expand_ratio}}, rounded")
    return keys.imaging(c, (), _HEADS, hidden=traits["last"], traits=traits, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    of, layers = s.traits, dict[str, Block]()
    stem, last = of["stem"], of[f"width.{len(_WIDTHS) - 1}"]
    for number in range(len(_WIDTHS) - 1):
        before, wide, d = of[f"width.{number}"], of[f"wide.{number}"], of[f"width.{number + 1}"]
        layers[str(number)] = inverted(before, wide, d)
    first = block(
        first_conv=normed(of["num_channels"], stem, 3),
        expand_1x1=None if of["first_layer_is_expansion"] else normed(stem, stem, 1),
        conv_3x3=normed(stem, stem, 3, groups=stem),
        reduce_1x1=normed(stem, of["width.0"], 1),
    )
    body = block(conv_stem=first, layer=Block(layers), conv_1x1=normed(last, of["last"], 1))
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
