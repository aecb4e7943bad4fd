"""GLM-Image's codebook of patches, with projections to it and back (arXiv:1711.00937)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding
from hfcount.parts.vision import convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("glm_image_vqmodel",)  # transformers 5.23: modeling_glm_image.py
IGNORED = ("in_channels",)


def spec(c: Config) -> Spec:
    traits = {
        "num_embeddings": keys.sized("n_e", c.int("num_embeddings")),
        "latent_channels": keys.sized("C", c.int("latent_channels")),
    }
    return keys.encoding(c, (), {"VQVAE": "base"}, hidden=c.int("embed_dim"), traits=traits)


def blueprint(s: Spec) -> Block:
    d, latent = s.hidden, s.traits["latent_channels"]
    return block(
        quantize=block(embedding=embedding(s.traits["num_embeddings"], d)),
        quant_conv=convolution(latent, d, 1),
        post_quant_conv=convolution(d, latent, 1),
    )
