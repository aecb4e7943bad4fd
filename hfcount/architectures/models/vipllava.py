"""ViP-LLaVA: LLaVA that reads several layers of its vision tower, normalised (arXiv:2312.00784)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("vipllava",)  # transformers 5.23: modeling_vipllava.py
SPELLINGS = LLAVA


class Vipllava(Sizes):
    vision_feature_layer: int


def spec(c: Config) -> Spec[Vipllava]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    read = c.ints("vision_feature_layer", "vision_feature_layers", default=[-2, -5, -8, -11, 6], alone=True)
    heads = ("ForConditionalGeneration", "Model")
    sizes = Vipllava.read(c, vision_feature_layer=len(read))
    return keys.composite(c, text, towers, heads=heads).having(sizes)


def blueprint(s: Spec[Vipllava]) -> Block:
    d, vision_width = s.hidden, s.own.vision_feature_layer * s.part("vision").hidden
    projector = block(
        "projector",
        projector_layernorm=layer_norm(vision_width),
        linear_1=Linear(vision_width, d, True),
        linear_2=Linear(d, d, True),
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
