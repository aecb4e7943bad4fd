"""Qwen4-Exp: its language model, and the vision tower of Qwen3-VL."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_in_model
from hfcount.parts.conversions import packed
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("qwen4_exp",)  # transformers 5.23: modeling_qwen4_exp.py
MERGED = packed()


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config", "qwen4_exp_vision")}
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))
