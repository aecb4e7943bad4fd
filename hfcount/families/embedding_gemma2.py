"""EmbeddingGemma 2: a text encoder, and Gemma 4's towers for images and sound if there are any (transformers)."""

from typing import Literal

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("embedding_gemma2",)  # transformers 5.23: modeling_embedding_gemma2.py

_SENSES: tuple[Literal["vision", "audio"], ...] = ("vision", "audio")


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers: dict[str, Spec] = {
        sense: families.part(c, f"{sense}_config") for sense in _SENSES if c.sub(f"{sense}_config")
    }
    return keys.composite(c, text, towers, heads=("Model",))


def blueprint(s: Spec) -> Block:
    senses = dict[str, Node]()
    for sense in [sense for sense in _SENSES if sense in s.parts]:
        senses[f"{sense}_tower"] = families.tower(s, sense)
        projection = Linear(s.parts[sense].output, s.hidden)
        senses[f"embed_{sense}"] = block("projector", embedding_projection=projection)
    return towers_in_model(s, families.base(s), **senses)
