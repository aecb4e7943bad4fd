"""PaliGemma: SigLIP's tower and one projection before Gemma (arXiv:2407.07726)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import LLAVA
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("paligemma",)  # transformers 5.23: modeling_paligemma.py
SPELLINGS = LLAVA
REPLACES_PLACEHOLDERS = True


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    traits = {"projection_dim": keys.sized("d_p", c.int("projection_dim", default=2048))}
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, text, towers, tied=True, heads=heads, traits=traits)


def blueprint(s: Spec) -> Block:
    projector = block("projector", linear=Linear(s.parts["vision"].hidden, s.traits["projection_dim"], bias=True))
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
