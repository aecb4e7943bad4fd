"""The autoencoders of LTX-Video and LTX-2, whose decoders can also denoise (arXiv:2501.00103)."""

from collections.abc import Sequence
from typing import TypeVar

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import numbered, time_embedding
from hfcount.architectures.layers.diffusion.transformers import table
from hfcount.architectures.layers.diffusion.video import causal, conv3d
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block, buffer

# diffusers 0.42.1: autoencoder_kl_ltx.py, autoencoder_kl_ltx2.py
MODEL_TYPES = ("AutoencoderKLLTXVideo", "AutoencoderKLLTX2Video")

_FIRST, _LATER, _SECOND = "LTXVideoDownBlock3D", "LTXVideo095DownBlock3D", "LTX2VideoDownBlock3D"
_STRIDES = {"spatial": 4, "temporal": 2, "spatiotemporal": 8}
"""Into how many places, and of how many, a place is parted or put together by each kind of sampling."""

Entry = TypeVar("Entry")


class Down(Record):
    """A level of the encoder: what it takes and gives, its blocks, how it halves, and whether a block widens it."""

    before: int
    width: int
    blocks: int
    sampling: str
    widened: bool


class Up(Record):
    """A level of the decoder: what it takes and gives, its blocks, and into how many places it parts each, or None.

    `factor` is how many times the channels of the level before are more than what it takes.
    """

    before: int
    width: int
    blocks: int
    places: int | None
    factor: int
    noisy: bool


class LtxVae(Sizes):
    """Its sizes; `middle` are the blocks between the levels of each side, `noisy` whether noise is added.

    `padded` is whether the way around a block is a convolution in a module of its own.
    """

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    patch_size: int = size("p", minimum=1)
    timestep_conditioning: bool = flag()
    first: int
    down: tuple[Down, ...]
    up: tuple[Up, ...]
    deepest: int
    middle: tuple[int, int]
    noisy: bool
    padded: bool


def spec(c: Config) -> Spec[LtxVae]:
    second = c.family == "AutoencoderKLLTX2Video"
    down, encoder_depths = _second_down(c) if second else _first_down(c)
    up, depths, noise = _up(c, second)
    first = c.int("latent_channels") if second else diffusion.stage_widths(c)[0]
    sizes = LtxVae.read(
        c,
        first=first,
        down=down,
        up=up,
        deepest=diffusion.stage_widths(c, "decoder_block_out_channels", "e")[-1],
        middle=(encoder_depths[-1], depths[-1]),
        noisy=noise[-1],
        padded=not second,
    )
    return diffusion.diffusing(c, sizes, down[-1].width if down else first)


def _first_down(c: Config) -> tuple[tuple[Down, ...], list[int]]:
    """The levels of LTX-Video's encoder; where the last is of the later kind, the first width is before them all."""
    widths, kinds = diffusion.stage_widths(c), diffusion.words(c, "down_block_types", (_FIRST, _LATER))
    depths, halved, samplings = (
        _depths(c, "layers_per_block"),
        c.entries("spatio_temporal_scaling"),
        c.strs("downsample_type"),
    )
    later = kinds[-1:] == [_LATER]
    stages, before = list[Down](), widths[0]
    for place in range(len(widths) - later):
        width = widths[min(place + 1, len(widths) - 1)]
        first = _at(c, "down_block_types", kinds, place) == _FIRST
        sampling = "conv" if first else _at(c, "downsample_type", samplings, place)
        sampling = sampling if _at(c, "spatio_temporal_scaling", halved, place) else ""
        blocks = _at(c, "layers_per_block", depths, place)
        widened = first and before != width
        stages.append(Down(before=before, width=width, blocks=blocks, sampling=sampling, widened=widened))
        before = width
    return tuple(stages), depths


def _second_down(c: Config) -> tuple[tuple[Down, ...], list[int]]:
    """The levels of LTX-2's encoder, which take what is as wide as the codes."""
    widths, kinds = diffusion.stage_widths(c), diffusion.words(c, "down_block_types", (_SECOND,))
    depths, samplings = _depths(c, "layers_per_block"), c.strs("downsample_type")
    halved = _switches(c, "spatio_temporal_scaling", len(depths) - 1)
    stages, before = list[Down](), c.int("latent_channels")
    for place, width in enumerate(widths):
        _at(c, "down_block_types", kinds, place)
        sampling = _at(c, "downsample_type", samplings, place)
        sampling = sampling if _at(c, "spatio_temporal_scaling", halved, place) else ""
        blocks = _at(c, "layers_per_block", depths, place)
        stages.append(Down(before=before, width=width, blocks=blocks, sampling=sampling, widened=False))
        before = width
    return tuple(stages), depths


def _up(c: Config, second: bool) -> tuple[tuple[Up, ...], list[int], list[bool]]:
    """The levels of the decoder, which begins with the deepest: its lists count from their ends."""
    widths, depths = (
        diffusion.stage_widths(c, "decoder_block_out_channels", "e"),
        _depths(c, "decoder_layers_per_block"),
    )
    doubled = _switches(c, "decoder_spatio_temporal_scaling", len(depths) - 1)[::-1]
    noise, residual = (
        _switches(c, "decoder_inject_noise", len(depths)),
        _switches(c, "upsample_residual", len(depths) - 1),
    )
    factors = c.ints("upsample_factor", minimum=1)[::-1]
    kinds = c.strs("upsample_type") if second else ["spatiotemporal"] * len(widths)
    _at(c, "decoder_inject_noise", noise, 0)
    stages, before = list[Up](), widths[-1]
    for place, width in enumerate(widths[::-1]):
        factor = _at(c, "upsample_factor", factors, place)
        _at(c, "upsample_residual", residual, place)
        kind = _at(c, "upsample_type", kinds, place)
        scaled = _at(c, "decoder_spatio_temporal_scaling", doubled, place)
        if scaled and kind not in _STRIDES:
            known = ", ".join(_STRIDES)
            raise c.error("unknown-kind", f"upsample_type must name some of {known}.", "upsample_type", observed=kind)
        level = Up(
            before=before // factor,
            width=width // factor,
            blocks=_at(c, "decoder_layers_per_block", depths[::-1], place + 1),
            places=_STRIDES[kind] if scaled else None,
            factor=factor,
            noisy=_at(c, "decoder_inject_noise", noise[::-1], place + 1),
        )
        stages.append(level)
        before = level.width
    return tuple(stages), depths, noise


def _depths(c: Config, key: str) -> list[int]:
    return [keys.dim(f"L{place}", depth) for place, depth in enumerate(c.ints(key, least=1, minimum=0), 1)]


def _switches(c: Config, key: str, count: int) -> list[bool]:
    """A switch for each of `count` levels, which LTX-2 may give once for all."""
    return [c.bool(key)] * count if isinstance(c.value(key), bool) else [bool(entry) for entry in c.entries(key)]


def _at(c: Config, key: str, values: Sequence[Entry], place: int) -> Entry:
    """The entry for a level; HF103 if the list is too short."""
    if place >= len(values):
        raise c.unequal(key, len(values), "the number of levels that it is for", place + 1)
    return values[place]


def blueprint(s: Spec[LtxVae]) -> Block:
    of, before, places = s.own, s.hidden, s.own.patch_size * s.own.patch_size
    codes = buffer(of.latent_channels, component="other")
    encoder = block(
        conv_in=causal(of.in_channels * places, of.first),
        down_blocks=numbered([_down_level(of, stage) for stage in of.down]),
        mid_block=block(resnets=Repeat(Indices.below(of.middle[0]), _residual(of, before, before))),
        conv_out=causal(before, of.latent_channels + 1),
    )
    timed, last = of.timestep_conditioning, of.up[-1].width
    decoder = block(
        conv_in=causal(of.latent_channels, of.deepest),
        mid_block=_denoising(of, of.deepest, of.deepest, of.middle[1], of.noisy),
        up_blocks=numbered([_up_level(of, stage) for stage in of.up]),
        conv_out=causal(last, of.out_channels * places),
        time_embedder=_step(2 * last) if timed else None,
        timestep_scale_multiplier=Tensor((), component="other") if timed else None,
        scale_shift_table=table(2, last) if timed else None,
    )
    return block(latents_mean=codes, latents_std=codes, encoder=encoder, decoder=decoder)


def _down_level(of: LtxVae, down: Down) -> Block:
    before, width = down.before, down.width
    halved: Node | None = None
    if down.sampling == "conv":
        halved = Block({"0": causal(before, before)})
    elif down.sampling in _STRIDES:
        halved = Block({"0": block(conv=causal(before, width // _STRIDES[down.sampling]))})
    return block(
        resnets=Repeat(Indices.below(down.blocks), _residual(of, before, before)),
        downsamplers=halved,
        conv_out=_residual(of, before, width) if down.widened else None,
    )


def _up_level(of: LtxVae, up: Up) -> Block:
    inputs = up.width * up.factor
    parted = None if up.places is None else causal(inputs, inputs * up.places // up.factor)
    widened = None if up.before == up.width else _residual(of, up.before, up.width, True, up.noisy)
    level = _denoising(of, up.before, up.width, up.blocks, up.noisy)
    upsamplers = None if parted is None else Block({"0": block(conv=parted)})
    return Block({**level.children, **block(conv_in=widened, upsamplers=upsamplers).children})


def _denoising(of: LtxVae, before: int, width: int, blocks: int, noisy: bool) -> Block:
    """Blocks of the decoder, and what tells them the step if the decoder denoises."""
    step = _step(4 * before) if of.timestep_conditioning else None
    resnets = Repeat(Indices.below(blocks), _residual(of, width, width, True, noisy))
    return block(time_embedder=step, resnets=resnets)


def _residual(of: LtxVae, inputs: int, outputs: int, decoding: bool = False, noisy: bool = False) -> Block:
    noise = Tensor((inputs, 1, 1), component="other") if noisy else None
    around: Node | None = None
    if inputs != outputs:
        around = causal(inputs, outputs, 1) if of.padded else conv3d(inputs, outputs, 1)
    timed = decoding and of.timestep_conditioning
    return block(
        conv1=causal(inputs, outputs),
        conv2=causal(outputs, outputs),
        norm3=None if inputs == outputs else layer_norm(inputs),
        conv_shortcut=around,
        per_channel_scale1=noise,
        per_channel_scale2=noise,
        scale_shift_table=table(4, inputs) if timed else None,
    )


def _step(d: int) -> Block:
    return block(timestep_embedder=time_embedding(256, d))
