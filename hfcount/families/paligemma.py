"""PaliGemma: SigLIP's tower and one projection before Gemma (arXiv:2407.07726)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.vision import siglip
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("paligemma",)


def spec(c: Config) -> Spec:
    part = c.part("text_config", defaults={"model_type": "gemma"})
    text, _ = families.read(part)
    vision = keys.siglip(c.part("vision_config"))
    traits = {"projection_dim": c.int("projection_dim", default=2048)}
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, part, text, tied=True, heads=heads, vision=vision, traits=traits)


def blueprint(s: Spec) -> Block:
    projector = block("vision", linear=Linear(s.eyes.hidden, s.traits["projection_dim"], bias=True))
    tower = siglip(s.eyes, head=bool(s.eyes.traits["vision_use_head"]))
    return llava(s, families.base(s.text), vision_tower=tower, multi_modal_projector=projector)
