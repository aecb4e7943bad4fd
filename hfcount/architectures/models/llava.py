"""LLaVA and its later versions: a vision tower and two projections before any language model (arXiv:2310.03744)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# transformers 5.23: modeling_llava.py, modeling_llava_next.py, modeling_llava_next_video.py,
# modeling_llava_onevision.py
MODEL_TYPES = ("llava", "llava_next", "llava_next_video", "llava_onevision")
SPELLINGS = {**LLAVA, r"^image_newline$": "model.image_newline"}


class Llava(Sizes):
    """Sizes specific to LLaVA; the outputs of `feature_layers` layers of its tower are taken together.

    Frames of a video are joined by a convolution of `pool_stride`, if that is not 0, to `pool_channels`.
    """

    multimodal_projector_bias: bool = flag(absent=True)
    pool_stride: int
    pool_channels: int
    feature_layers: int = derived(lambda c: len(c.ints("vision_feature_layer", alone=True)) or 1)


def spec(c: Config) -> Spec[Llava]:
    heads = keys.named(("ForConditionalGeneration", "Model"))
    keys.head_of(c, heads)  # other classes have this type, too, and other keys
    text = families.part(c, "text_config")
    vision = families.part(c, "vision_config")
    stride = channels = 0
    if (
        c.family == "llava_next_video"
        and c.choice("spatial_pool_mode", ("average", "max", "conv"), "average") == "conv"
    ):
        stride = c.int("spatial_pool_stride", default=2)
        channels = c.int("spatial_pool_out_channels", default=vision.hidden)
    sizes = Llava.read(c, pool_stride=stride, pool_channels=channels)
    model = keys.composite(c, text, {"vision": vision}, heads=heads).having(sizes)
    if c.family == "llava_next":  # the only one whose class does not take over what text_config says
        return model
    return model.replace(tied=keys.tied_anywhere(c, c.part("text_config")))


def blueprint(s: Spec[Llava]) -> Block:
    bias, vision_width = s.own.multimodal_projector_bias, s.own.feature_layers * s.part("vision").hidden
    projector = block(
        "projector",
        linear_1=Linear(vision_width, s.hidden, bias),
        linear_2=Linear(s.hidden, s.hidden, bias),
    )
    senses: dict[str, Node] = {"vision_tower": families.tower(s, "vision"), "multi_modal_projector": projector}
    if s.family != "llava":  # marks the end of a row of patches
        senses["image_newline"] = Tensor((s.hidden,), component="projector")
    if stride := s.own.pool_stride:
        pool = conv(s.part("vision").hidden, s.own.pool_channels, stride, bias=True)
        senses["vision_resampler"] = block("projector", pool=pool)
    return llava(s, families.base(s), **senses)
