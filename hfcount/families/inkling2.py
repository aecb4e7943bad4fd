"""Inkling 2: the language model and a vision tower whose merged patches pass two projections."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_beside_model
from hfcount.parts.release_names import INKLING2
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("inkling2",)  # transformers 5.23: modeling_inkling2.py
SPELLINGS = INKLING2


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config", "inkling2_vision")}
    whole = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    if whole.head == "base":  # which has the tower's parts under the names of transformers
        vision = whole.parts["vision"]
        whole = whole.replace(parts={**whole.parts, "vision": vision.replace(adapted=True)})
    return whole.replace(tied=False)  # the head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    vision, body = families.tower(s, "vision"), families.base(s)
    if s.head == "base":
        return towers_beside_model(s, body, vision_tower=vision)
    head = Linear(s.hidden, s.vocab, component="lm_head")
    return block(model=block(llm=Block({**body.children, "unembed": head}), visual=vision))
