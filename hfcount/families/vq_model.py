"""VQModel of diffusers: an autoencoder whose latents are rows of a table of codes (arXiv:2012.09841)."""

from hfcount.errors import UnknownArchitecture
from hfcount.keys import diffusion
from hfcount.mapper import Config
from hfcount.parts.diffusion import OLD_ATTENTION, conv, decoder, encoder, ending, middle
from hfcount.spec import Sizes, Spec, count, flag, optional, size
from hfcount.tree.nodes import Block, Tensor, block

# diffusers 0.42.1: vq_model.py, vae.py
MODEL_TYPES = ("VQModel",)
SPELLINGS = OLD_ATTENTION

_DOWN = {"DownEncoderBlock2D": False, "AttnDownEncoderBlock2D": True}
_UP = {"UpDecoderBlock2D": False, "AttnUpDecoderBlock2D": True}


class VQModel(Sizes):
    widths: tuple[int, ...]
    down: tuple[bool, ...]
    up: tuple[bool, ...]
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("L", minimum=0)
    num_vq_embeddings: int = size("n")
    vq_embed_dim: int | None = optional("d_v")
    mid_block_add_attention: bool = flag()


def spec(c: Config) -> Spec[VQModel]:
    if c.str("norm_type") != "group":
        raise UnknownArchitecture(f"{c.where}: norms of another type than group are not described in VQModel.")
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    own = VQModel.read(
        c,
        widths=widths,
        down=diffusion.stage_kinds(c, "down_block_types", _DOWN, len(widths)),
        up=diffusion.stage_kinds(c, "up_block_types", _UP, len(widths)),
    )
    return diffusion.diffusing(c, own, widths[-1])


def blueprint(s: Spec[VQModel]) -> Block:
    of, latent, widths = s.own, s.own.latent_channels, s.own.widths
    d = latent if of.vq_embed_dim is None else of.vq_embed_dim
    between = middle(widths[-1], of.mid_block_add_attention)
    behind, last = ending(widths[-1], latent), ending(widths[0], of.out_channels)
    codes = block("embedding", weight=Tensor((of.num_vq_embeddings, d)))
    return block(
        encoder=encoder(of.in_channels, widths, of.down, of.layers_per_block, mid_block=between, **behind),
        quant_conv=conv(latent, d, 1),
        quantize=block(embedding=codes),
        post_quant_conv=conv(d, latent, 1),
        decoder=decoder(latent, widths, of.up, of.layers_per_block, mid_block=between, **last),
    )
