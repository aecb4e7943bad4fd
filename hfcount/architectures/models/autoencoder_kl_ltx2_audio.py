"""The autoencoder of LTX-2 for sound, which sees spectrograms as images."""

from collections.abc import Sequence

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import conv
from hfcount.architectures.layers.diffusion.video import level
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block, buffer

MODEL_TYPES = ("AutoencoderKLLTX2Audio",)  # diffusers 0.42.1: autoencoder_kl_ltx2_audio.py

_AXES, _NORMS, _GROUPS = ("none", "width", "height", "width-compatibility"), ("group", "pixel"), 32


class Level(Record):
    """A level: its width, and whether the encoder and the decoder attend there."""

    width: int
    attends: bool
    attends_later: bool


class LTX2AudioVae(Sizes):
    """Sizes specific to this architecture; `normed` is whether its norms have weights."""

    base_channels: int = size("d_0")
    in_channels: int = size("C")
    output_channels: int = size("C_o")
    latent_channels: int = size("z")
    num_res_blocks: int = count("N_r")
    mid_block_add_attention: bool = flag()
    double_z: bool = flag()
    normed: bool
    levels: tuple[Level, ...]


def spec(c: Config) -> Spec[LTX2AudioVae]:
    axis, normed = c.choice("causality_axis", _AXES), c.choice("norm_type", _NORMS) == "group"
    sizes = LTX2AudioVae.read(c, normed=normed, levels=_levels(c))
    if normed and axis != "none":
        text = f"norm_type is group and causality_axis {axis}, and groups see later places, too."
        raise c.error("contradiction", text, "causality_axis", "Correct one of them.")
    widths = (sizes.base_channels, *(level.width for level in sizes.levels)) if normed else ()
    diffusion.check_parts(c, widths, _GROUPS, "groups of a norm", "base_channels")
    return diffusion.diffusing(c, sizes, sizes.levels[-1].width)


def _levels(c: Config) -> tuple[Level, ...]:
    base, side = c.int("base_channels"), int(c.int("resolution", minimum=0))
    factors, resolutions = (
        c.ints("ch_mult", least=1, minimum=1),
        [] if c.is_null("attn_resolutions") else c.ints("attn_resolutions"),
    )
    smallest, last = side // 2 ** (len(factors) - 1), len(factors) - 1
    return tuple(
        Level(
            width=keys.dim(f"d{place + 1}", base * factor),
            attends=side // 2**place in resolutions,
            attends_later=smallest * 2 ** (last - place) in resolutions,
        )
        for place, factor in enumerate(factors)
    )


def blueprint(s: Spec[LTX2AudioVae]) -> Block:
    of, deepest, first = s.own, s.own.levels[-1].width, s.own.levels[0].width
    latent, moments = of.latent_channels, buffer(of.base_channels)
    encoder = block(
        conv_in=_conv(of.in_channels, of.base_channels),
        down=Block(_down(of)),
        mid=_middle(of, deepest),
        norm_out=_norm(of, deepest),
        conv_out=_conv(deepest, 2 * latent if of.double_z else latent),
    )
    decoder = block(
        conv_in=_conv(latent, deepest),
        mid=_middle(of, deepest),
        up=Block(_up(of)),
        norm_out=_norm(of, first),
        conv_out=_conv(first, of.output_channels),
    )
    return block(encoder=encoder, decoder=decoder, latents_mean=moments, latents_std=moments)


def _down(of: LTX2AudioVae) -> dict[str, Node]:
    children, last = dict[str, Node](), len(of.levels) - 1
    befores = (of.base_channels, *(level.width for level in of.levels))
    for place, (stage, before) in enumerate(zip(of.levels, befores, strict=False)):
        halved = block(conv=conv(stage.width, stage.width)) if place < last else None
        children[str(place)] = _stage(of, of.num_res_blocks, (before, stage.width), stage.attends, downsample=halved)
    return children


def _up(of: LTX2AudioVae) -> dict[str, Node]:
    children, befores = dict[str, Node](), (*(stage.width for stage in of.levels[1:]), of.levels[-1].width)
    for place, (stage, before) in enumerate(zip(of.levels, befores, strict=True)):
        doubled = block(conv=_conv(stage.width, stage.width)) if place else None
        children[str(place)] = _stage(
            of, of.num_res_blocks + 1, (before, stage.width), stage.attends_later, upsample=doubled
        )
    return children


def _stage(of: LTX2AudioVae, several: int, widths: Sequence[int], attends: bool, **resampled: Node | None) -> Block:
    """So many residual blocks from the first of `widths` to the second, with attention behind each if it `attends`."""
    before, width = widths
    attention = Repeat(Indices.below(several), _attention(of, width)) if attends else None
    return block(
        block=level(several, before, width, lambda inputs, other: _residual(of, inputs, other)),
        attn=attention,
        **resampled,
    )


def _middle(of: LTX2AudioVae, width: int) -> Block:
    resnet = _residual(of, width, width)
    return block(block_1=resnet, attn_1=_attention(of, width) if of.mid_block_add_attention else None, block_2=resnet)


def _residual(of: LTX2AudioVae, inputs: int, outputs: int) -> Block:
    return block(
        norm1=_norm(of, inputs),
        conv1=_conv(inputs, outputs),
        norm2=_norm(of, outputs),
        conv2=_conv(outputs, outputs),
        nin_shortcut=None if inputs == outputs else _conv(inputs, outputs, 1),
    )


def _attention(of: LTX2AudioVae, width: int) -> Block:
    projection = conv(width, width, 1)
    return block("attention", norm=_norm(of, width), q=projection, k=projection, v=projection, proj_out=projection)


def _conv(inputs: int, outputs: int, side: int = 3) -> Block:
    """A convolution in a module that pads it."""
    return block(conv=conv(inputs, outputs, side))


def _norm(of: LTX2AudioVae, width: int) -> Block | None:
    return layer_norm(width) if of.normed else None
