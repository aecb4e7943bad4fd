"""SigLIP and SigLIP 2: a vision and a text tower, trained with a sigmoid loss (arXiv:2303.15343, arXiv:2502.14786)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.classic import classifier
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("siglip", "siglip2")  # transformers 5.23: modeling_siglip.py, modeling_siglip2.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    return keys.composite(c, text, towers, heads=("Model", "ForImageClassification")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    tower = families.tower(s, "vision")
    if s.head == "image_classification":
        return block(vision_model=tower, classifier=classifier(s, s.part("vision").hidden))
    scale = Tensor((1,), component="other")
    return block(text_model=families.base(s), vision_model=tower, logit_scale=scale, logit_bias=scale)
