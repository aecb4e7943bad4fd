"""The autoencoder of HunyuanImage 2.1, which folds places of an image into channels."""

from collections.abc import Callable
from math import log2

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import conv, numbered, residual
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("AutoencoderKLHunyuanImage",)  # diffusers 0.42.1: autoencoder_kl_hunyuanimage.py

_GROUPS, _PLACES = 32, 4


class HunyuanImageVae(Sizes):
    """Sizes specific to this architecture; `folded` is how many levels are folded, unless they are the last."""

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("N_r")
    downsample_match_channel: bool = flag()
    upsample_match_channel: bool = flag()
    widths: tuple[int, ...]
    folded: int


def spec(c: Config) -> Spec[HunyuanImageVae]:
    widths, latent = diffusion.stage_widths(c), c.int("latent_channels")
    diffusion.check_parts(c, widths, _GROUPS, "groups of a norm")
    diffusion.check_parts(c, widths[-1:], 2 * latent, "channels that the encoder ends in")
    ratio = log2(c.int("spatial_compression_ratio", minimum=1))
    sizes = HunyuanImageVae.read(c, widths=widths, folded=min(int(-(-ratio // 1)), len(widths) - 1))
    after = widths[1 : sizes.folded + 1] if sizes.downsample_match_channel else widths[: sizes.folded]
    diffusion.check_parts(c, after, _PLACES, "places that become one")
    c.int("sample_size")
    return diffusion.diffusing(c, sizes, widths[-1])


def blueprint(s: Spec[HunyuanImageVae]) -> Block:
    of, deepest, first = s.own, s.own.widths[-1], s.own.widths[0]
    encoder = block(
        conv_in=conv(of.in_channels, first),
        down_blocks=numbered(
            _stages(of, of.widths, of.layers_per_block, of.downsample_match_channel, lambda width: width // _PLACES)
        ),
        mid_block=_middle(deepest),
        norm_out=layer_norm(deepest),
        conv_out=conv(deepest, 2 * of.latent_channels),
    )
    decoder = block(
        conv_in=conv(of.latent_channels, deepest),
        mid_block=_middle(deepest),
        up_blocks=numbered(
            _stages(
                of, of.widths[::-1], of.layers_per_block + 1, of.upsample_match_channel, lambda width: width * _PLACES
            )
        ),
        norm_out=layer_norm(first),
        conv_out=conv(first, of.out_channels),
    )
    return block(encoder=encoder, decoder=decoder)


def _stages(
    of: HunyuanImageVae, widths: tuple[int, ...], blocks: int, matched: bool, outputs: Callable[[int], int]
) -> list[Node]:
    """The blocks of all levels, numbered through, with what folds or unfolds places behind those of some levels."""
    nodes, before = list[Node](), widths[0]
    for place, width in enumerate(widths):
        for _ in range(int(blocks)):
            nodes.append(residual(before, width))
            before = width
        if place < of.folded:
            after = widths[place + 1] if matched else width
            nodes.append(block(conv=conv(before, outputs(after))))
            before = after
    return nodes


def _middle(width: int) -> Block:
    projection = conv(width, width, 1)
    attention = block(
        "attention", norm=layer_norm(width), to_q=projection, to_k=projection, to_v=projection, proj=projection
    )
    return block(resnets=Repeat(Indices.fixed(0, 1), residual(width, width)), attentions=Block({"0": attention}))
