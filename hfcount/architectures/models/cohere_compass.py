"""Cohere Compass: Command R7B's layers under the vision tower of Qwen3-VL (card of North-Micro-Vision-Instruct)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("cohere_compass",)  # transformers 5.23: modeling_cohere_compass.py


def spec(c: Config) -> Spec:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config", "cohere_compass_vision")
    return keys.composite(c, text, {"vision": vision}, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))
