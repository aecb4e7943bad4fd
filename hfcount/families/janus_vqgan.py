"""Janus's autoencoder of images, with a code for each patch: VQGAN's stages of convolutions (arXiv:2012.09841)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.vision import convolution
from hfcount.parts.vqgan import decoder, encoder
from hfcount.spec import Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("janus_vqgan",)  # transformers 5.23: modeling_janus.py
IGNORED = ("num_patches",)


class JanusVqgan(Sizes):
    """What Janus's autoencoder alone has; `widths` are those of its stages."""

    widths: tuple[int, ...]
    in_channels: int = size()
    out_channels: int = size()
    base_channels: int = size()
    latent_channels: int = size()
    num_embeddings: int = size()
    num_res_blocks: int = size()
    image_token_embed_dim: int = size()
    num_hidden_layers: int = size()
    double_latent: bool = flag(absent=False)


def spec(c: Config) -> Spec[JanusVqgan]:
    base, factors = c.int("base_channels"), c.ints("channel_multiplier")
    if not factors:
        raise c.error("channel_multiplier names no stage.", "channel_multiplier", "Name the width of each.")
    own = JanusVqgan.read(c, widths=tuple(keys.dim(f"C{n}", base * factor) for n, factor in enumerate(factors, 1)))
    heads = keys.named(JanusVQVAE="base")
    return keys.encoding(c, (), heads, hidden=c.int("embed_dim"), out=c.int("projection_dim")).having(own)


def blueprint(s: Spec[JanusVqgan]) -> Block:
    of, latent, widths = s.own, s.own.latent_channels, s.own.widths
    codes = block(embedding=block(weight=Tensor((of.num_embeddings, s.hidden))))
    outputs = 2 * latent if of.double_latent else latent
    return block(
        "vision",
        encoder=encoder(of.in_channels, of.base_channels, widths, of.num_res_blocks, outputs),
        quantize=codes,
        quant_conv=convolution(latent, s.hidden, 1),
        post_quant_conv=convolution(s.hidden, latent, 1),
        decoder=decoder(latent, widths, of.num_res_blocks, of.out_channels),
    )
