"""ALIGN: EfficientNet and BERT, trained on noisy pairs of images and texts (arXiv:2102.05918)."""

from hfcount import architectures
from hfcount.architectures import keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("align",)  # transformers 5.23: modeling_align.py


def spec(c: Config) -> Spec:
    text, towers = architectures.part(c, "text_config"), {"vision": architectures.part(c, "vision_config")}
    return keys.composite(c, text, towers, heads=("Model",), out=c.int("projection_dim")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    return block(
        text_model=architectures.base(s),
        vision_model=architectures.tower(s, "vision"),
        text_projection=Linear(s.hidden, s.output, True, "projector"),
        temperature=Tensor((), component="other"),
    )
