"""A square projection of an embedding of an image, beside the U-Net of GLIGEN (arXiv:2301.07093)."""

from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# diffusers 0.42.1: clip_image_project_model.py
MODEL_TYPES = ("CLIPImageProjection",)


class ImageProjection(Sizes):
    hidden_size: int = size("d")


def spec(c: Config) -> Spec[ImageProjection]:
    sizes = ImageProjection.read(c)
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def blueprint(s: Spec[ImageProjection]) -> Block:
    return block(project=Linear(s.hidden, s.hidden, component="projector"))
