"""The autoencoder of HunyuanVideo, which sees videos frame after frame (arXiv:2412.03603)."""

from math import log2

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import OLD_ATTENTION, image_attention
from hfcount.architectures.layers.diffusion.video import causal, conv3d, level, residual3d
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("AutoencoderKLHunyuanVideo",)  # diffusers 0.42.1: autoencoder_kl_hunyuan_video.py
SPELLINGS = OLD_ATTENTION


class HunyuanVideoVae(Sizes):
    """Its sizes; `halved` are the levels of the encoder after which it halves, `doubled` the decoder's."""

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("N_r")
    mid_block_add_attention: bool = flag()
    widths: tuple[int, ...]
    halved: tuple[bool, ...]
    doubled: tuple[bool, ...]


def spec(c: Config) -> Spec[HunyuanVideoVae]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    diffusion.activation(c, "act_fn")
    if c.int("temporal_compression_ratio") != _FRAMES:
        text = f"temporal_compression_ratio is {int(c.int('temporal_compression_ratio')):,}, but must be {_FRAMES}."
        raise c.error("out-of-range", text, "temporal_compression_ratio", "Correct it.", expected=_FRAMES)
    sides = int(log2(c.int("spatial_compression_ratio", minimum=1)))
    down, up = (
        diffusion.stage_kinds(c, f"{way}_block_types", {f"HunyuanVideo{way.title()}Block3D": True}, len(widths))
        for way in ("down", "up")
    )

    def resized(levels: int) -> tuple[bool, ...]:
        """Whether each level halves the sides of a frame, or the number of frames, as the last two but one do."""
        last = len(widths) - 1
        return tuple(place < sides or last - 2 <= place != last for place in range(levels))

    sizes = HunyuanVideoVae.read(c, widths=widths, halved=resized(len(down)), doubled=resized(len(up)))
    return diffusion.diffusing(c, sizes, widths[-1])


_FRAMES = 4


def blueprint(s: Spec[HunyuanVideoVae]) -> Block:
    of, deepest, first = s.own, s.own.widths[-1], s.own.widths[0]
    encoder = block(
        conv_in=causal(of.in_channels, first),
        down_blocks=Block(_levels(of.widths, of.halved, of.layers_per_block, "downsamplers")),
        mid_block=_middle(deepest, of.mid_block_add_attention),
        conv_norm_out=layer_norm(deepest),
        conv_out=causal(deepest, 2 * of.latent_channels),
    )
    decoder = block(
        conv_in=causal(of.latent_channels, deepest),
        up_blocks=Block(_levels(of.widths[::-1], of.doubled, of.layers_per_block + 1, "upsamplers")),
        mid_block=_middle(deepest, of.mid_block_add_attention),
        conv_norm_out=layer_norm(first),
        conv_out=causal(first, of.out_channels),
    )
    double, latent = 2 * of.latent_channels, of.latent_channels
    return block(
        encoder=encoder,
        decoder=decoder,
        quant_conv=conv3d(double, double, 1),
        post_quant_conv=conv3d(latent, latent, 1),
    )


def _levels(widths: tuple[int, ...], resized: tuple[bool, ...], blocks: int, name: str) -> dict[str, Node]:
    children, before = dict[str, Node](), widths[0]
    for place, (width, changed) in enumerate(zip(widths, resized, strict=False)):
        after: Node | None = Block({"0": block(conv=causal(width, width))}) if changed else None
        children[str(place)] = block(resnets=level(blocks, before, width, residual3d), **{name: after})
        before = width
    return children


def _middle(width: int, attends: bool) -> Block:
    both = Repeat(Indices.fixed(0, 1), residual3d(width, width))
    return block(attentions=Block({"0": image_attention(width)}) if attends else None, resnets=both)
