"""Video-LLaVA: LLaVA with a tower for images and one for videos, which are built alike (arXiv:2311.10122)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("video_llava",)  # transformers 5.23: modeling_video_llava.py
SPELLINGS = inside("image_tower", "video_tower", "multi_modal_projector")


class VideoLlava(Sizes):
    multimodal_projector_bias: bool = flag(absent=True)
    vision_feature_layer: int


def spec(c: Config) -> Spec[VideoLlava]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = VideoLlava.read(c, vision_feature_layer=len(c.ints("vision_feature_layer", alone=True)) or 1)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).having(sizes)


def blueprint(s: Spec[VideoLlava]) -> Block:
    bias, tower = s.own.multimodal_projector_bias, families.tower(s, "vision")
    vision_width = s.own.vision_feature_layer * s.part("vision").hidden
    projector = block(
        "projector", linear_1=Linear(vision_width, s.hidden, bias), linear_2=Linear(s.hidden, s.hidden, bias)
    )
    return llava(s, families.base(s), image_tower=tower, video_tower=tower, multi_modal_projector=projector)
