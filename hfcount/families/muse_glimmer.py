"""Muse Glimmer and Muse Spark: a gated language model with a vision tower and an adapter, Spark with an audio tower."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("muse_glimmer", "muse_spark")  # transformers 5.23: modeling_muse_glimmer.py, modeling_muse_spark.py
REPLACES_PLACEHOLDERS = True


class MuseGlimmer(Sizes):
    """What this architecture alone has."""

    out_hidden_size: int = size("d_o")
    projector_hidden_size: int = size("d_p")


def spec(c: Config) -> Spec[MuseGlimmer]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    own = MuseGlimmer.read(c)
    spark = c.family == "muse_spark"
    if spark:
        towers["audio"] = families.part(c, "audio_config")
    whole = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return whole.replace(tied=whole.tied and not spark).having(own)  # Spark's head is its own, whatever the config says


def blueprint(s: Spec[MuseGlimmer]) -> Block:
    seen, width = s.own.out_hidden_size, s.own.projector_hidden_size
    senses: dict[str, Node] = {
        "vision_tower": families.tower(s, "vision"),
        "vision_adapter": block("projector", fc1=Linear(seen, width), fc2=Linear(width, width)),
        "vision_projection": Linear(width, s.hidden, component="projector"),
    }
    if "audio" in s.parts:
        senses["audio_tower"] = families.tower(s, "audio")
    return towers_in_model(s, families.base(s), **senses)
