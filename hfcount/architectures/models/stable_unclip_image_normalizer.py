"""The mean and deviation of embeddings of images that Stable unCLIP normalises by (arXiv:2204.06125)."""

from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

# diffusers 0.42.1: stable_unclip_image_normalizer.py
MODEL_TYPES = ("StableUnCLIPImageNormalizer",)


class ImageNormalizer(Sizes):
    embedding_dim: int = size("d")


def spec(c: Config) -> Spec[ImageNormalizer]:
    sizes = ImageNormalizer.read(c)
    return diffusion.diffusing(c, sizes, sizes.embedding_dim)


def blueprint(s: Spec[ImageNormalizer]) -> Block:
    row = Tensor((1, s.hidden))
    return block("norm", mean=row, std=row)
