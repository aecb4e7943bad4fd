"""The autoencoder of Allegro, which sees each frame as an image and then all frames of a place (arXiv:2410.15458)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import conv as convolution
from hfcount.architectures.layers.diffusion.layers import (
    OLD_ATTENTION,
    conv,
    image_attention,
    resampling,
    residual,
)
from hfcount.architectures.layers.diffusion.video import level
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("AutoencoderKLAllegro",)  # diffusers 0.42.1: autoencoder_kl_allegro.py
SPELLINGS = OLD_ATTENTION


class AllegroVae(Sizes):
    """Sizes specific to this architecture; `halved` and `doubled` are, by level of each side, whether frames are."""

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("N_r", minimum=0)
    widths: tuple[int, ...]
    halved: tuple[bool, ...]
    doubled: tuple[bool, ...]


def spec(c: Config) -> Spec[AllegroVae]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    diffusion.activation(c, "act_fn")
    sizes = AllegroVae.read(
        c, widths=widths, halved=_frames(c, "down", len(widths)), doubled=_frames(c, "up", len(widths))
    )
    return diffusion.diffusing(c, sizes, widths[-1])


def _frames(c: Config, way: str, count: int) -> tuple[bool, ...]:
    """Whether the frames change at each level of one side."""
    kinds = diffusion.stage_kinds(c, f"{way}_block_types", {f"Allegro{way.title()}Block3D": True}, count)
    key = f"temporal_{way}sample_blocks"
    frames = c.entries(key)
    if len(frames) < len(kinds):
        raise c.unequal(key, len(frames), f"the number of {way}_block_types", len(kinds))
    return tuple(map(bool, frames[: len(kinds)]))


def blueprint(s: Spec[AllegroVae]) -> Block:
    of, first, deepest = s.own, s.own.widths[0], s.own.widths[-1]
    both = Indices.fixed(0, 1)
    middle = block(
        resnets=Repeat(both, residual(deepest, deepest)),
        temp_convs=Repeat(both, _temporal(deepest)),
        attentions=Block({"0": image_attention(deepest)}),
    )
    encoder = block(
        conv_in=conv(of.in_channels, first),
        temp_conv_in=_along(first, first, 3, 1),
        down_blocks=Block(_levels(of, of.widths, of.halved, True)),
        mid_block=middle,
        conv_norm_out=layer_norm(deepest),
        temp_conv_out=_along(deepest, deepest, 3, 1),
        conv_out=conv(deepest, 2 * of.latent_channels),
    )
    decoder = block(
        conv_in=conv(of.latent_channels, deepest),
        temp_conv_in=_along(deepest, deepest, 3, 1),
        mid_block=middle,
        up_blocks=Block(_levels(of, of.widths[::-1], of.doubled, False)),
        conv_norm_out=layer_norm(first),
        temp_conv_out=_along(first, first, 3, 1),
        conv_out=conv(first, of.out_channels),
    )
    double, latent = 2 * of.latent_channels, of.latent_channels
    return block(
        encoder=encoder, decoder=decoder, quant_conv=conv(double, double, 1), post_quant_conv=conv(latent, latent, 1)
    )


def _levels(of: AllegroVae, widths: tuple[int, ...], frames: tuple[bool, ...], down: bool) -> dict[str, Node]:
    children, before = dict[str, Node](), widths[0]
    for place, (width, changes) in enumerate(zip(widths, frames, strict=False)):
        several = of.layers_per_block if down else of.layers_per_block + 1
        sides = resampling(width) if place < len(widths) - 1 else None
        children[str(place)] = block(
            resnets=level(several, before, width, residual),
            temp_convs=Repeat(Indices.below(several), _temporal(width)),
            temp_convs_down=_temporal(width, 2, 1) if changes and down else None,
            temp_conv_up=_temporal(width, 1, 2) if changes and not down else None,
            downsamplers=sides if down else None,
            upsamplers=None if down else sides,
        )
        before = width
    return children


def _temporal(width: int, frames: int = 3, times: int = 1) -> Block:
    """Four convolutions over frames; where they change, the first sees so many and makes `times` as many of each."""
    side = 1 if frames == 3 else 3
    later, norm = _along(width, width, 3, side), layer_norm(width)
    dropped = Block({"0": norm, "3": later})
    return block(
        conv1=Block({"0": norm, "2": _along(width, times * width, frames, side)}),
        conv2=dropped,
        conv3=dropped,
        conv4=Block({"0": norm, "2": later}),
    )


def _along(inputs: int, outputs: int, frames: int, side: int) -> Block:
    return convolution(inputs, outputs, frames, side, side, bias=True)
