"""InternVL 3 as transformers has it: patches in squares, two projections, any language model (arXiv:2504.10479)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import llava
from hfcount.parts.conversions import LLAVA
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("internvl",)  # transformers 5.23: modeling_internvl.py
SPELLINGS = LLAVA


class Internvl(Sizes):
    """What this architecture alone has."""

    downsample_ratio: int


def spec(c: Config) -> Spec[Internvl]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    merged = keys.inverse(c, "m", "downsample_ratio", default=0.5)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, tied=True, heads=heads).having(Internvl.read(c, downsample_ratio=merged))


def blueprint(s: Spec[Internvl]) -> Block:
    d, side = s.hidden, s.own.downsample_ratio
    seen = side * side * s.parts["vision"].hidden
    projector = block(
        "projector", layer_norm=layer_norm(seen), linear_1=Linear(seen, d, True), linear_2=Linear(d, d, True)
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
