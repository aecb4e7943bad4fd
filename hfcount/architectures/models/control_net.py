"""ControlNet: a copy of a U-Net's way down that reads an image and steers the U-Net (arXiv:2302.05543)."""

from hfcount.architectures.components.control import Control
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

# diffusers 0.42.1: controlnet.py, unet_2d_blocks.py, transformer_2d.py, attention.py
MODEL_TYPES = ("ControlNetModel",)


def spec(c: Config) -> Spec[Control]:
    sizes = Control.of(c)
    return diffusion.diffusing(c, sizes, sizes.stages.deepest)


def blueprint(s: Spec[Control]) -> Block:
    return s.own.tensors()
