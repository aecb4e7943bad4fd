"""Gemma 4: its language model, vision and audio towers, and a projection for each (model card of gemma-4-31B-it)."""

from typing import Literal

from hfcount.architectures import families, keys
from hfcount.architectures.layers import with_head
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("gemma4",)  # transformers 5.23: modeling_gemma4.py
IGNORED = ("vision_soft_tokens_per_image",)
REPLACES_PLACEHOLDERS = True

_SENSES: tuple[Literal["vision", "audio"], ...] = ("vision", "audio")


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers: dict[str, Spec] = {}
    for sense in [sense for sense in _SENSES if c.sub(f"{sense}_config")]:
        towers[sense] = families.part(c, f"{sense}_config")
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model", "ForCausalLM"))


def blueprint(s: Spec) -> Block:
    body, towers = families.base(s), dict[str, Node]()
    if s.head == "causal_lm":
        return with_head(s, body)
    for sense in [sense for sense in _SENSES if sense in s.parts]:
        part = s.parts[sense]
        towers[f"{sense}_tower"] = families.tower(s, sense)
        projection = Linear(part.hidden if part.out is None else part.out, s.hidden)
        towers[f"embed_{sense}"] = block("projector", embedding_projection=projection)
    return towers_in_model(s, body, **towers)
