"""NVILA and NVILA-Lite: SigLIP's patches, joined in squares and projected, before Qwen2 (arXiv:2412.04468)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("nvila", "nvila_lite")  # nvila.py of sgl-project/sglang 0.5.23, and nvila_lite.py beside it
CLASSES = ("NVILAForConditionalGeneration", "NVILALiteForConditionalGeneration")
SPELLINGS = {r"^vision_tower\.(?!vision_model\.)": "vision_tower.vision_model."}

_SCALES = 3  # of an image, in the implementation, whose patches NVILA sees together


def spec(c: Config) -> Spec:
    text, vision = (families.part(c, "text_config", "qwen2"), families.part(c, "vision_config", "siglip_vision_model"))
    heads = ("ForConditionalGeneration",)
    return keys.composite(c, text, {"vision": vision}, heads=heads).replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    d, vision_width = s.hidden, s.part("vision").hidden
    if s.family == "nvila":  # squares of two patches a side
        joined = 4 * (_SCALES * vision_width)
        layers = Block({"1": layer_norm(joined), "2": Linear(joined, d, True), "4": Linear(d, d, True)})
    else:  # of three
        joined, between = 9 * vision_width, 3 * vision_width
        wide, narrow, square = Linear(joined, between, True), Linear(between, d, True), Linear(d, d, True)
        layers = Block({"1": layer_norm(joined), "2": wide, "4": layer_norm(between), "5": narrow, "7": square})
    return block(
        llm=rebased(families.tree(s.part("text").replace(head="causal_lm")), "llm"),
        mm_projector=Block({"layers": layers}, "projector", 0),
        vision_tower=Block({"vision_model": families.tower(s, "vision")}, "vision", 0),
    )
