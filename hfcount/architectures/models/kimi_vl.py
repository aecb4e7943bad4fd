"""Kimi-VL: DeepSeek-V3's layers with a vision tower for images of any size (arXiv:2504.07491)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.models.kimi_k25_vision import KimiK25Vision
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("kimi_vl",)  # modeling_kimi_vl.py of moonshotai/Kimi-VL-A3B-Instruct


def spec(c: Config) -> Spec:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config", "moonvit")
    tied = keys.tied_anywhere(c, c.part("text_config"))
    return keys.composite(c, text, {"vision": vision}, heads=("ForConditionalGeneration", "Model")).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    vision = s.part("vision")
    vision_width = vision.sizes(KimiK25Vision).merged * vision.hidden
    wide, narrow = Linear(vision_width, vision_width, bias=True), Linear(vision_width, s.hidden, bias=True)
    projector = block("projector", pre_norm=layer_norm(vision.hidden), linear_1=wide, linear_2=narrow)
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
