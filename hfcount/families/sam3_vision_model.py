"""SAM 3's image encoder: a backbone, and a neck that scales its features to several resolutions (arXiv:2511.16719)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.convolution import transposed
from hfcount.parts.vision import convolution
from hfcount.spec import Record, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("sam3_vision_model",)  # transformers 5.23: modeling_sam3.py
IGNORED = ("backbone_feature_sizes",)

_DOUBLINGS = {4.0: 2, 2.0: 1, 1.0: 0, 0.5: 0}


class Sam3VisionModel(Record):
    """What SAM 3's image encoder alone has: how often the features are doubled at each level."""

    doublings: tuple[int, ...]


def spec(c: Config) -> Spec[Sam3VisionModel]:
    factors = c.entries("scale_factors") if c.given("scale_factors") else [4.0, 2.0, 1.0, 0.5]
    if any(not isinstance(one, int | float) or one not in _DOUBLINGS for one in factors):
        raise c.error("scale_factors must be a list of 4, 2, 1 and 0.5.", "scale_factors")
    own = Sam3VisionModel(doublings=tuple(_DOUBLINGS[factor] for factor in factors))
    parts, d = {"backbone": families.part(c, "backbone_config")}, keys.dim("d_n", c.int("fpn_hidden_size"))
    return keys.encoding(c, (), hidden=d, parts=parts).having(own)


def blueprint(s: Spec[Sam3VisionModel]) -> Block:
    seen, levels = s.parts["backbone"].hidden, dict[str, Block]()
    for place, doublings in enumerate(s.own.doublings):
        width, scaled = seen, dict[str, Block]()
        for step in range(doublings):
            scaled[str(2 * step)] = transposed(width, width // 2, 2)
            width = width // 2
        projections = block(proj1=convolution(width, s.hidden, 1), proj2=convolution(s.hidden, s.hidden, 3))
        levels[str(place)] = Block({"scale_layers": Block(scaled), **projections.children})
    neck = block("projector", fpn_layers=Block(levels))
    return block(backbone=families.tree(s.parts["backbone"]), neck=neck)
