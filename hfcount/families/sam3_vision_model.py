"""SAM 3's image encoder: a backbone, and a neck that scales its features to several resolutions (arXiv:2511.16719)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.convolution import transposed
from hfcount.parts.vision import convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("sam3_vision_model",)  # transformers 5.23: modeling_sam3.py
IGNORED = ("backbone_feature_sizes",)

_DOUBLINGS = {4.0: 2, 2.0: 1, 1.0: 0, 0.5: 0}


def spec(c: Config) -> Spec:
    factors = c.entries("scale_factors") if c.given("scale_factors") else [4.0, 2.0, 1.0, 0.5]
    if any(not isinstance(one, int | float) or one not in _DOUBLINGS for one in factors):
        raise c.error("scale_factors must be a list of 4, 2, 1 and 0.5.", "scale_factors")
    traits = {f"doublings.{place}": _DOUBLINGS[factor] for place, factor in enumerate(factors)}
    parts, d = {"backbone": families.part(c, "backbone_config")}, keys.sized("d_n", c.int("fpn_hidden_size"))
    return keys.encoding(c, (), hidden=d, parts=parts, traits={**traits, "levels": len(factors)})


def blueprint(s: Spec) -> Block:
    seen, levels = s.parts["backbone"].hidden, dict[str, Block]()
    for place in range(s.traits["levels"]):
        width, scaled = seen, dict[str, Block]()
        for step in range(s.traits[f"doublings.{place}"]):
            scaled[str(2 * step)] = transposed(width, width // 2, 2)
            width = width // 2
        projections = block(proj1=convolution(width, s.hidden, 1), proj2=convolution(s.hidden, s.hidden, 3))
        levels[str(place)] = Block({"scale_layers": Block(scaled), **projections.children})
    neck = block("projector", fpn_layers=Block(levels))
    return block(backbone=families.tree(s.parts["backbone"]), neck=neck)
