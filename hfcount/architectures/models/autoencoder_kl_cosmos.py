"""The autoencoder of Cosmos, over wavelets of videos, which sees places and frames in turn (arXiv:2501.03575)."""

from math import log2

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.diffusion.video import conv3d, level, residual_with
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("AutoencoderKLCosmos",)  # diffusers 0.42.1: autoencoder_kl_cosmos.py


class Level(Record):
    """A level: its width, whether it attends, and what is resampled behind it: the sides of a frame, the frames."""

    width: int
    attends: bool
    sides: bool
    frames: bool


class CosmosVae(Sizes):
    """Sizes specific to this architecture: the levels of both sides, and the widths before the first of each."""

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    patch_size: int = size("p", minimum=1)
    num_layers: int = count("N_r")
    first: int
    last: int
    down: tuple[Level, ...]
    up: tuple[Level, ...]


def spec(c: Config) -> Spec[CosmosVae]:
    inner = diffusion.stage_widths(c, "encoder_block_out_channels")
    outer = diffusion.stage_widths(c, "decode_block_out_channels", "D")[::-1]
    c.choice("patch_type", ("haar", "rearrange"))
    sizes = CosmosVae.read(c, first=inner[0], last=outer[0], down=_down(c, inner), up=_up(c, outer))
    return diffusion.diffusing(c, sizes, inner[-1])


def _halvings(c: Config) -> tuple[int, int]:
    """How many levels halve the sides of a frame, and how many the frames, beside what patches do."""
    patch = int(log2(c.int("patch_size", minimum=1)))
    sides, frames = (int(log2(c.int(f"{name}_compression_ratio", minimum=1))) for name in ("spatial", "temporal"))
    return sides - patch, frames - patch


def _down(c: Config, widths: tuple[int, ...]) -> tuple[Level, ...]:
    (sides, frames), resolutions, last = _halvings(c), c.ints("attention_resolutions"), len(widths) - 2
    side = int(c.int("resolution", minimum=0) // c.int("patch_size", minimum=1))
    return tuple(
        Level(
            width=width,
            attends=side // 2**place in resolutions,
            sides=place < min(sides, last),
            frames=place < min(frames, last),
        )
        for place, width in enumerate(widths[1:])
    )


def _up(c: Config, widths: tuple[int, ...]) -> tuple[Level, ...]:
    (sides, frames), resolutions, last = _halvings(c), c.ints("attention_resolutions"), len(widths) - 2
    side = c.int("resolution", minimum=0) // c.int("patch_size", minimum=1)
    smallest = int(int(side) // 2**last)
    levels = list[Level]()
    for place, width in enumerate(widths[1:]):
        longer = place < last and 0 < place < frames + 1
        larger = longer or (place < min(sides, last) and sides > frames)
        levels.append(Level(width=width, attends=smallest * 2**place in resolutions, sides=larger, frames=longer))
    return tuple(levels)


def blueprint(s: Spec[CosmosVae]) -> Block:
    of, latent, places = s.own, s.own.latent_channels, s.own.patch_size * s.own.patch_size * s.own.patch_size
    deepest, end = (
        levels[-1].width if levels else conv_in for levels, conv_in in ((of.down, of.first), (of.up, of.last))
    )
    encoder = block(
        conv_in=_conv(of.in_channels * places, of.first),
        down_blocks=Block(_levels(of, of.down, of.first, True)),
        mid_block=_middle(deepest),
        norm_out=_norm(deepest),
        conv_out=_conv(deepest, latent),
    )
    decoder = block(
        conv_in=_conv(latent, of.last),
        mid_block=_middle(of.last),
        up_blocks=Block(_levels(of, of.up, of.last, False)),
        norm_out=_norm(end),
        conv_out=_conv(end, of.out_channels * places),
    )
    pointwise = conv3d(latent, latent, 1)
    return block(encoder=encoder, decoder=decoder, quant_conv=pointwise, post_quant_conv=pointwise)


def _levels(of: CosmosVae, levels: tuple[Level, ...], before: int, down: bool) -> dict[str, Node]:
    children, several = dict[str, Node](), of.num_layers if down else of.num_layers + 1
    for place, stage in enumerate(levels):
        attention = Repeat(Indices.below(several), _attention(stage.width)) if stage.attends else None
        resampled = Block({"0": _resampled(stage, down)}) if stage.sides or stage.frames else None
        children[str(place)] = block(
            resnets=level(several, before, stage.width, _residual),
            attentions=attention,
            temp_attentions=attention,
            downsamplers=resampled if down else None,
            upsamplers=None if down else resampled,
        )
        before = stage.width
    return children


def _resampled(level: Level, down: bool) -> Block:
    """What halves or doubles the sides, then or before that the frames, and mixes channels behind both."""
    sides = conv(level.width, level.width, 1, 3, 3, bias=True) if level.sides else None
    frames = conv(level.width, level.width, 3, 1, 1, bias=True) if level.frames else None
    first, second = (sides, frames) if down else (frames, sides)
    return block(conv1=first, conv2=second, conv3=conv3d(level.width, level.width, 1))


def _residual(inputs: int, outputs: int) -> Block:
    return residual_with(inputs, outputs, _conv, _norm)


def _middle(width: int) -> Block:
    attention = Block({"0": _attention(width)})
    both = Repeat(Indices.fixed(0, 1), _residual(width, width))
    return block(resnets=both, attentions=attention, temp_attentions=attention)


def _attention(width: int) -> Block:
    projection = conv3d(width, width, 1)
    return block(
        "attention",
        norm=_norm(width),
        to_q=projection,
        to_k=projection,
        to_v=projection,
        to_out=Block({"0": projection}),
    )


def _conv(inputs: int, outputs: int) -> Block:
    """A convolution over the places of a frame, and one over frames."""
    return block(conv_s=conv(inputs, outputs, 1, 3, 3, bias=True), conv_t=conv(outputs, outputs, 3, 1, 1, bias=True))


def _norm(width: int) -> Block:
    return block(norm=layer_norm(width))
