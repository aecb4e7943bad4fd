"""Muse Glimmer and Muse Spark: a gated language model with a vision tower and an adapter, Spark with an audio tower."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import joined
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("muse_glimmer", "muse_spark")  # transformers 5.23: modeling_muse_glimmer.py, modeling_muse_spark.py
REPLACES_PLACEHOLDERS = True


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    traits = {
        "out_hidden_size": keys.sized("d_o", c.int("out_hidden_size")),
        "projector_hidden_size": keys.sized("d_p", c.int("projector_hidden_size")),
    }
    spark = c.family == "muse_spark"
    if spark:
        towers["audio"] = families.part(c, "audio_config")
    whole = keys.around(c, text, towers, heads=("ForConditionalGeneration", "Model"), traits=traits)
    return whole.but(tied=whole.tied and not spark)  # Spark's head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    seen, width = s.traits["out_hidden_size"], s.traits["projector_hidden_size"]
    senses: dict[str, Node] = {
        "vision_tower": families.tower(s, "vision"),
        "vision_adapter": block("projector", fc1=Linear(seen, width), fc2=Linear(width, width)),
        "vision_projection": Linear(width, s.hidden, component="projector"),
    }
    if "audio" in s.parts:
        senses["audio_tower"] = families.tower(s, "audio")
    return joined(s, families.base(s), **senses)
