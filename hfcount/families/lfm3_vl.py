"""LFM3-VL: a vision tower of convolutions and attention, whose patches are merged, before LFM3 (transformers)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lfm3_vl",)  # transformers 5.23: modeling_lfm3_vl.py


class Lfm3Vl(Sizes):
    """What this architecture alone has."""

    projector_hidden_size: int = size("d_p", absent=4096)
    projector_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[Lfm3Vl]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    own = Lfm3Vl.read(c)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(own)


def blueprint(s: Spec[Lfm3Vl]) -> Block:
    vision, wide, bias = s.parts["vision"], s.own.projector_hidden_size, s.own.projector_bias
    projector = block(
        "projector",
        layer_norm=layer_norm(vision.hidden),
        linear_1=Linear(vision.seen.merged(vision.hidden), wide, bias),
        linear_2=Linear(wide, s.hidden, bias),
    )
    tower = families.tower(s, "vision")
    return towers_in_model(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)
