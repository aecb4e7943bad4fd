"""Aya Vision and Command A Vision: patches in squares, a gated projection, Cohere's model (arXiv:2505.08751)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import llava, towers_in_model
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("aya_vision", "cohere2_vision")  # transformers 5.23: modeling_aya_vision.py, modeling_cohere2_vision.py
CONVERTED, SPELLINGS = ("aya_vision",), LLAVA


class AyaVision(Sizes):
    downsample_factor: int = size("m", absent=2)
    alignment_intermediate_size: int


def spec(c: Config) -> Spec[AyaVision]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    default = text.hidden if c.family == "aya_vision" else 36864
    sizes = AyaVision.read(
        c, alignment_intermediate_size=keys.dim("d_p", c.int("alignment_intermediate_size", default=default))
    )
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model")).having(sizes)


def blueprint(s: Spec[AyaVision]) -> Block:
    side, wide = s.own.downsample_factor, s.own.alignment_intermediate_size
    first, vision_width = s.family == "aya_vision", side * side * s.part("vision").hidden
    projector = block(
        "projector",
        layernorm=layer_norm(vision_width) if first else None,
        linear_1=Linear(vision_width, wide, True),
        linear_2=Linear(wide // 2, s.hidden, True),
    )
    named = llava if first else towers_in_model
    return named(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
