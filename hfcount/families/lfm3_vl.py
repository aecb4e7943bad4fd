"""LFM3-VL: a vision tower of convolutions and attention, whose patches are merged, before LFM3 (transformers)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import joined
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lfm3_vl",)  # transformers 5.23: modeling_lfm3_vl.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    traits = {
        "projector_hidden_size": keys.sized("d_p", c.int("projector_hidden_size", default=4096)),
        "projector_bias": c.bool("projector_bias", default=True),
    }
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.around(c, text, towers, heads=heads, traits=traits).but(tied=tied)


def blueprint(s: Spec) -> Block:
    vision, wide, bias = s.parts["vision"], s.traits["projector_hidden_size"], bool(s.traits["projector_bias"])
    projector = block(
        "projector",
        layer_norm=layer_norm(vision.hidden),
        linear_1=Linear(vision.seen.merged(vision.hidden), wide, bias),
        linear_2=Linear(wide, s.hidden, bias),
    )
    tower = families.tower(s, "vision")
    return joined(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)
