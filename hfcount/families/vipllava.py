"""ViP-LLaVA: LLaVA that reads several layers of its vision tower, normalised (arXiv:2312.00784)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import llava
from hfcount.parts.conversions import LLAVA
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("vipllava",)  # transformers 5.23: modeling_vipllava.py
SPELLINGS = LLAVA


class Vipllava(Sizes):
    vision_feature_layer: int


def spec(c: Config) -> Spec[Vipllava]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    read = c.ints("vision_feature_layer", "vision_feature_layers", default=[-2, -5, -8, -11, 6], alone=True)
    heads = ("ForConditionalGeneration", "Model")
    own = Vipllava.read(c, vision_feature_layer=len(read))
    return keys.composite(c, text, towers, heads=heads).having(own)


def blueprint(s: Spec[Vipllava]) -> Block:
    d, seen = s.hidden, s.own.vision_feature_layer * s.part("vision").hidden
    projector = block(
        "projector",
        projector_layernorm=layer_norm(seen),
        linear_1=Linear(seen, d, True),
        linear_2=Linear(d, d, True),
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
