"""PaliGemma: SigLIP's tower and one projection before Gemma (arXiv:2407.07726)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("paligemma",)  # transformers 5.23: modeling_paligemma.py
SPELLINGS = LLAVA
REPLACES_PLACEHOLDERS = True


class Paligemma(Sizes):
    projection_dim: int = size("d_p", absent=2048)


def spec(c: Config) -> Spec[Paligemma]:
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    sizes = Paligemma.read(c)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, tied=True, heads=heads).having(sizes)


def blueprint(s: Spec[Paligemma]) -> Block:
    projector = block("projector", linear=Linear(s.part("vision").hidden, s.own.projection_dim, bias=True))
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
