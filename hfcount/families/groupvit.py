"""GroupViT: CLIP whose vision tower groups patches, for segmentation by text alone (arXiv:2202.11094)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import paired
from hfcount.parts.convolution import batch_norm
from hfcount.parts.layers import altered
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Node

MODEL_TYPES = ("groupvit",)  # transformers 5.23: modeling_groupvit.py
IGNORED = ("output_segmentation",)


class Groupvit(Sizes):
    """What this architecture alone has."""

    projection_intermediate_dim: int = size("d_p")


def spec(c: Config) -> Spec[Groupvit]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    own = Groupvit.read(c)
    out = c.int("projection_dim")
    return keys.composite(c, text, towers, heads=("Model",), out=out).replace(tied=False).having(own)


def blueprint(s: Spec[Groupvit]) -> Block:
    wide, seen = s.own.projection_intermediate_dim, s.parts["vision"].hidden

    def projection(inputs: int) -> Block:
        first, last = Linear(inputs, wide, True), Linear(wide, s.output, True)
        steps: dict[str, Node] = {"0": first, "1": batch_norm(wide), "3": last}
        return Block(steps, "projector")

    whole = paired(s, families.base(s), families.tower(s, "vision"))
    return altered(whole, visual_projection=projection(seen), text_projection=projection(s.hidden))
