"""GroupViT: CLIP whose vision tower groups patches, for segmentation by text alone (arXiv:2202.11094)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import paired
from hfcount.parts.convolution import batch_norm
from hfcount.parts.layers import altered
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node

MODEL_TYPES = ("groupvit",)  # transformers 5.23: modeling_groupvit.py
IGNORED = ("output_segmentation",)


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    traits = {"projection_intermediate_dim": keys.sized("d_p", c.int("projection_intermediate_dim"))}
    out = c.int("projection_dim")
    return keys.around(c, text, towers, heads=("Model",), out=out, traits=traits).but(tied=False)


def blueprint(s: Spec) -> Block:
    wide, seen = s.traits["projection_intermediate_dim"], s.parts["vision"].hidden

    def projection(inputs: int) -> Block:
        first, last = Linear(inputs, wide, True), Linear(wide, s.output, True)
        steps: dict[str, Node] = {"0": first, "1": batch_norm(wide), "3": last}
        return Block(steps, "projector")

    whole = paired(s, families.base(s), families.tower(s, "vision"))
    return altered(whole, visual_projection=projection(seen), text_projection=projection(s.hidden))
