"""The autoencoder of FLUX.2: that of Stable Diffusion, whose codes are normalised patch by patch."""

from math import prod

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
from hfcount.spec.tree.nodes import Block, block, buffer

MODEL_TYPES = ("AutoencoderKLFlux2",)  # diffusers 0.42.1: autoencoder_kl_flux2.py, vae.py
SPELLINGS = OLD_ATTENTION

_DOWN = {"DownEncoderBlock2D": False, "AttnDownEncoderBlock2D": True}
_UP = {"UpDecoderBlock2D": False, "AttnUpDecoderBlock2D": True}


class Flux2Vae(Sizes):
    """Its sizes; `widths` are those of the encoder's stages, `later` of the decoder's, in the same order."""

    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("L")
    mid_block_add_attention: bool = flag()
    use_quant_conv: bool = flag()
    use_post_quant_conv: bool = flag()
    widths: tuple[int, ...]
    later: tuple[int, ...]
    down: tuple[bool, ...]
    up: tuple[bool, ...]
    patch: tuple[int, ...]


def spec(c: Config) -> Spec[Flux2Vae]:
    widths = diffusion.stage_widths(c)
    given = bool(c.value("decoder_block_out_channels"))
    later = diffusion.stage_widths(c, "decoder_block_out_channels", "D") if given else widths
    diffusion.check_groups(c, widths)
    diffusion.check_groups(c, later, whole="decoder_block_out_channels")
    sizes = Flux2Vae.read(
        c,
        widths=widths,
        later=later,
        down=diffusion.stage_kinds(c, "down_block_types", _DOWN, len(widths)),
        up=diffusion.stage_kinds(c, "up_block_types", _UP, len(later)),
        patch=tuple(c.ints("patch_size", minimum=1)),
    )
    return diffusion.diffusing(c, sizes, widths[-1])


def blueprint(s: Spec[Flux2Vae]) -> Block:
    of, latent, count = s.own, s.own.latent_channels, s.own.layers_per_block
    attends, vision_width = of.mid_block_add_attention, buffer(prod(of.patch) * latent)
    first, last = middle(of.widths[-1], attends), middle(of.later[-1], attends)
    return block(
        encoder=encoder(
            of.in_channels, of.widths, of.down, count, mid_block=first, **ending(of.widths[-1], 2 * latent)
        ),
        decoder=decoder(latent, of.later, of.up, count, mid_block=last, **ending(of.later[0], of.out_channels)),
        quant_conv=conv(2 * latent, 2 * latent, 1) if of.use_quant_conv else None,
        post_quant_conv=conv(latent, latent, 1) if of.use_post_quant_conv else None,
        bn=block("norm", running_mean=vision_width, running_var=vision_width, num_batches_tracked=buffer(whole=True)),
    )
