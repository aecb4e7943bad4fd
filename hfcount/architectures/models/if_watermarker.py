"""The watermark that DeepFloyd IF puts on images: a picture, and nothing that is trained."""

from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block, buffer

# diffusers 0.42.1: watermark.py
MODEL_TYPES = ("IFWatermarker",)

_SIDE, _CHANNELS = 62, 4


class Watermark(Sizes):
    """Its config has no key."""


def spec(c: Config) -> Spec[Watermark]:
    return diffusion.diffusing(c, Watermark.read(c), _CHANNELS)


def blueprint(s: Spec[Watermark]) -> Block:
    return block(watermark_image=buffer(_SIDE, _SIDE, s.hidden))
