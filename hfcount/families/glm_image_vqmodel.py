"""GLM-Image's codebook of patches, with projections to it and back (arXiv:1711.00937)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding
from hfcount.parts.vision import convolution
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("glm_image_vqmodel",)  # transformers 5.23: modeling_glm_image.py
IGNORED = ("in_channels",)


class GlmImageVqmodel(Sizes):
    """What this architecture alone has."""

    num_embeddings: int = size("n_e")
    latent_channels: int = size("C")


def spec(c: Config) -> Spec[GlmImageVqmodel]:
    own = GlmImageVqmodel.read(c)
    return keys.encoding(c, (), {"VQVAE": "base"}, hidden=c.int("embed_dim")).having(own)


def blueprint(s: Spec[GlmImageVqmodel]) -> Block:
    d, latent = s.hidden, s.own.latent_channels
    return block(
        quantize=block(embedding=embedding(s.own.num_embeddings, d)),
        quant_conv=convolution(latent, d, 1),
        post_quant_conv=convolution(d, latent, 1),
    )
