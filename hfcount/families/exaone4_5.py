"""EXAONE 4.5: a vision transformer before EXAONE 4 (https://huggingface.co/LGAI-EXAONE)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("exaone4_5",)  # transformers 5.23: modeling_exaone4_5.py


def spec(c: Config) -> Spec:
    inner, towers = c.part("text_config"), {"vision": families.part(c, "vision_config")}
    early = inner.str("model_type", default="") == "exaone4_5_text"
    text = families.part(c, "text_config", "exaone4" if early else "")
    tied = c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))
