"""CLIP: a vision and a text tower, each with a projection to a common width (arXiv:2103.00020)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.classic import classifier
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("clip", "metaclip_2")  # transformers 5.23: modeling_clip.py, modeling_metaclip_2.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    heads = ("Model", "ForImageClassification")
    return keys.around(c, text, towers, heads=heads, out=c.int("projection_dim")).but(tied=False)


def blueprint(s: Spec) -> Block:
    seen, out = s.parts["vision"].hidden, s.out or s.hidden
    tower = families.tower(s, "vision")
    if s.head == "image_classification":
        return block(vision_model=tower, classifier=classifier(s, seen))
    return block(
        text_model=families.base(s),
        vision_model=tower,
        visual_projection=Linear(seen, out, component="projector"),
        text_projection=Linear(s.hidden, out, component="projector"),
        logit_scale=Tensor((), component="other"),
    )
