"""Kimi K2.5: Kimi K2's language model with a tower for images and videos (arXiv:2602.02276)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Undescribed

MODEL_TYPES = ("kimi_k25",)  # transformers 5.23: modeling_kimi_k25.py
IGNORED = ("vision_config",)
REPLACES_PLACEHOLDERS = True


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    return keys.around(c, text, {}, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    tower = Undescribed("the vision tower of Kimi K2.5 and its projector are not described")
    return llava(s, families.base(s), vision_tower=tower, mm_projector=tower)
