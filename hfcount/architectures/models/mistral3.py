"""Mistral 3 and its kin: Pixtral's tower, whose patches are merged, before any language model (arXiv:2410.07073)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import rms_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("mistral3",)  # transformers 5.23: modeling_mistral3.py
SPELLINGS = LLAVA


class Mistral3(Sizes):
    spatial_merge_size: int = size("m", absent=2)
    multimodal_projector_bias: bool = flag(absent=False)
    vision_feature_layer: int


def spec(c: Config) -> Spec[Mistral3]:
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    sizes = Mistral3.read(c, vision_feature_layer=len(c.ints("vision_feature_layer", alone=True)) or 1)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, tied=True, heads=heads).having(sizes)


def blueprint(s: Spec[Mistral3]) -> Block:
    vision_width, merge, bias = s.part("vision").hidden, s.own.spatial_merge_size, s.own.multimodal_projector_bias
    projector = block(
        "projector",
        norm=rms_norm(vision_width),
        patch_merger=block(merging_layer=Linear(merge * merge * vision_width, vision_width)),
        linear_1=Linear(s.own.vision_feature_layer * vision_width, s.hidden, bool(bias)),
        linear_2=Linear(s.hidden, s.hidden, bool(bias)),
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
