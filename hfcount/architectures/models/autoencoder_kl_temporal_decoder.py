"""The autoencoder of Stable Video Diffusion, whose decoder sees all frames of a video at once (arXiv:2311.15127)."""

from itertools import pairwise

from hfcount.architectures.components.unet_frames import mixed, over_frames
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import led
from hfcount.architectures.layers.diffusion.layers import (
    OLD_ATTENTION,
    conv,
    encoder,
    ending,
    image_attention,
    middle,
    numbered,
    resampling,
)
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Node, block

# diffusers 0.42.1: autoencoder_kl_temporal_decoder.py, vae.py, unet_3d_blocks.py
MODEL_TYPES = ("AutoencoderKLTemporalDecoder",)
SPELLINGS = OLD_ATTENTION

_DOWN = {"DownEncoderBlock2D": False, "AttnDownEncoderBlock2D": True}


class TemporalDecoder(Sizes):
    widths: tuple[int, ...]
    down: tuple[bool, ...]
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("L")


def spec(c: Config) -> Spec[TemporalDecoder]:
    widths = diffusion.stage_widths(c)
    diffusion.check_parts(c, widths, 32, "groups of a norm")
    down = diffusion.stage_kinds(c, "down_block_types", _DOWN, len(widths))
    return diffusion.diffusing(c, TemporalDecoder.read(c, widths=widths, down=down), widths[-1])


def blueprint(s: Spec[TemporalDecoder]) -> Block:
    of, latent, widths = s.own, s.own.latent_channels, s.own.widths
    behind = ending(widths[-1], 2 * latent)
    return block(
        encoder=encoder(
            of.in_channels, widths, of.down, of.layers_per_block, mid_block=middle(widths[-1], True), **behind
        ),
        decoder=_decoder(of),
        quant_conv=conv(2 * latent, 2 * latent, 1),
    )


def _decoder(of: TemporalDecoder) -> Block:
    back, stages = of.widths[::-1], list[Node]()
    for place, (before, d) in enumerate(pairwise((back[0], *back))):
        blocks = led(of.layers_per_block + 1, mixed(before, d, None), mixed(d, d, None))
        up = resampling(d) if place != len(back) - 1 else None
        stages.append(block(resnets=blocks, upsamplers=up))
    square = mixed(back[0], back[0], None)
    return block(
        conv_in=conv(of.latent_channels, back[0]),
        mid_block=block(
            attentions=numbered([image_attention(back[0])]), resnets=led(of.layers_per_block, square, square)
        ),
        up_blocks=numbered(stages),
        conv_norm_out=layer_norm(back[-1]),
        conv_out=conv(back[-1], of.out_channels),
        time_conv_out=over_frames(of.out_channels, of.out_channels),
    )
