"""GLM-4.5V: GLM-4.1V's vision tower before GLM-4.5's language model with experts (arXiv:2507.01006)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("glm4v_moe", "glm_ocr")  # transformers 5.23: modeling_glm4v_moe.py, modeling_glm_ocr.py
PREDICTORS = ("GlmOcrMTPModel", "GlmOcrForConditionalGenerationNextN")


def spec(c: Config) -> Spec:
    known = "glm4_moe" if c.family == "glm4v_moe" else ""
    text, towers = families.part(c, "text_config", known), {"vision": families.part(c, "vision_config")}
    tied = keys.tied_anywhere(c, c.part("text_config"))
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))
