"""The autoencoder of Stable Diffusion, Flux and many others, whose latents are drawn (arXiv:2112.10752)."""

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import (
    OLD_ATTENTION,
    conv,
    decoder,
    encoder,
    ending,
    middle,
)
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

# diffusers 0.42.1: autoencoder_kl.py, vae.py
MODEL_TYPES = ("AutoencoderKL",)
SPELLINGS = OLD_ATTENTION

_DOWN = {"DownEncoderBlock2D": False, "AttnDownEncoderBlock2D": True}
_UP = {"UpDecoderBlock2D": False, "AttnUpDecoderBlock2D": True}


class AutoencoderKL(Sizes):
    widths: tuple[int, ...]
    down: tuple[bool, ...]
    up: tuple[bool, ...]
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("L", minimum=0)
    mid_block_add_attention: bool = flag()
    use_quant_conv: bool = flag()
    use_post_quant_conv: bool = flag()


def spec(c: Config) -> Spec[AutoencoderKL]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    diffusion.activation(c, "act_fn")
    sizes = AutoencoderKL.read(
        c,
        widths=widths,
        down=diffusion.stage_kinds(c, "down_block_types", _DOWN, len(widths)),
        up=diffusion.stage_kinds(c, "up_block_types", _UP, len(widths)),
    )
    return diffusion.diffusing(c, sizes, widths[-1])


def blueprint(s: Spec[AutoencoderKL]) -> Block:
    of, latent, widths = s.own, s.own.latent_channels, s.own.widths
    between = middle(widths[-1], of.mid_block_add_attention)
    behind, last = ending(widths[-1], 2 * latent), ending(widths[0], of.out_channels)
    return block(
        encoder=encoder(of.in_channels, widths, of.down, of.layers_per_block, mid_block=between, **behind),
        decoder=decoder(latent, widths, of.up, of.layers_per_block, mid_block=between, **last),
        quant_conv=conv(2 * latent, 2 * latent, 1) if of.use_quant_conv else None,
        post_quant_conv=conv(latent, latent, 1) if of.use_post_quant_conv else None,
    )
