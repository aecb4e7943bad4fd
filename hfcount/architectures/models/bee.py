"""Bee and R-4B: LLaVA-OneVision with a norm before its projections (arXiv:2510.13795, arXiv:2508.21113)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("bee",)  # bee.py of vllm-project/vllm 0.33, and rvl.py there
CLASSES = ("BeeForConditionalGeneration", "RForConditionalGeneration")
IGNORED = ("vision_feature_layer",)
SPELLINGS = {**LLAVA, r"^image_newline$": "model.image_newline"}


class Bee(Sizes):
    """How many times as wide as the language model the projections are between them."""

    widened: int


def spec(c: Config) -> Spec[Bee]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    widened = 1 if "RForConditionalGeneration" in c.strs("architectures") else 4
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=keys.tied_anywhere(c, c.part("text_config"))).having(Bee.read(c, widened=widened))


def blueprint(s: Spec[Bee]) -> Block:
    d, seen = s.hidden, s.part("vision").hidden
    projector = block(
        "projector",
        pre_norm=layer_norm(seen),
        linear_1=Linear(seen, s.own.widened * d, True),
        linear_2=Linear(s.own.widened * d, d, True),
    )
    newline = Tensor((d,), component="projector")
    tower = families.tower(s, "vision")
    return llava(s, families.base(s), vision_tower=tower, multi_modal_projector=projector, image_newline=newline)
