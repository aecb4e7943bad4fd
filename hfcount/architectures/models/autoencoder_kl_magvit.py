"""The autoencoder of EasyAnimate, MagViT with convolutions that see earlier frames (arXiv:2405.18991)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.video import conv3d, level
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("AutoencoderKLMagvit",)  # diffusers 0.42.1: autoencoder_kl_magvit.py

_STAGES = {way: {f"Spatial{kind}{way}Block3D": True for kind in ("", "Temporal")} for way in ("Down", "Up")}


class MagvitVae(Sizes):
    """Sizes specific to this architecture; `down` and `up` are how many levels each side has."""

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("N_r", minimum=0)
    widths: tuple[int, ...]
    down: int
    up: int


def spec(c: Config) -> Spec[MagvitVae]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    diffusion.activation(c, "act_fn")
    down, up = (
        len(diffusion.stage_kinds(c, f"{way.lower()}_block_types", known, len(widths)))
        for way, known in _STAGES.items()
    )
    return diffusion.diffusing(c, MagvitVae.read(c, widths=widths, down=down, up=up), widths[-1])


def blueprint(s: Spec[MagvitVae]) -> Block:
    of, first, deepest = s.own, s.own.widths[0], s.own.widths[-1]
    middle = block(convs=Repeat(Indices.below(max(1, of.layers_per_block)), _residual(deepest, deepest)))
    encoder = block(
        conv_in=conv3d(of.in_channels, first),
        down_blocks=Block(_levels(of, of.widths, of.down, "downsampler")),
        mid_block=middle,
        conv_norm_out=layer_norm(deepest),
        conv_out=conv3d(deepest, 2 * of.latent_channels),
    )
    decoder = block(
        conv_in=conv3d(of.latent_channels, deepest),
        mid_block=middle,
        up_blocks=Block(_levels(of, of.widths[::-1], of.up, "upsampler")),
        conv_norm_out=layer_norm(first),
        conv_out=conv3d(first, of.out_channels),
    )
    double, latent = 2 * of.latent_channels, of.latent_channels
    return block(
        encoder=encoder,
        decoder=decoder,
        quant_conv=conv3d(double, double, 1),
        post_quant_conv=conv3d(latent, latent, 1),
    )


def _levels(of: MagvitVae, widths: tuple[int, ...], several: int, name: str) -> dict[str, Node]:
    """The levels of a side, with what is called `name` behind each but the last of all."""
    children, before, down = dict[str, Node](), widths[0], name == "downsampler"
    for place, width in enumerate(widths[:several]):
        blocks = of.layers_per_block if down else of.layers_per_block + 1
        resampled = width if down or blocks > 1 else before  # a lone block leaves the width of the level before it
        after = block(conv=conv3d(resampled, resampled)) if place < len(widths) - 1 else None
        children[str(place)] = block(convs=level(blocks, before, width, _residual), **{name: after})
        before = width
    return children


def _residual(inputs: int, outputs: int) -> Block:
    return block(
        norm1=layer_norm(inputs),
        conv1=conv3d(inputs, outputs),
        norm2=layer_norm(outputs),
        conv2=conv3d(outputs, outputs),
        shortcut=None if inputs == outputs else conv3d(inputs, outputs, 1),
    )
