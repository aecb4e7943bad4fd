"""ALIGN: EfficientNet and BERT, trained on noisy pairs of images and texts (arXiv:2102.05918)."""

from hfcount.architectures import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("align",)  # transformers 5.23: modeling_align.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    return keys.composite(c, text, towers, heads=("Model",), out=c.int("projection_dim")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    return block(
        text_model=families.base(s),
        vision_model=families.tower(s, "vision"),
        text_projection=Linear(s.hidden, s.output, True, "projector"),
        temperature=Tensor((), component="other"),
    )
