"""AutoencoderTiny: a small stand-in for the autoencoders of Stable Diffusion and Flux (TAESD, O. B. Bohan, 2023)."""

from collections.abc import Mapping

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import conv
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block

# diffusers 0.42.1: autoencoder_tiny.py, vae.py, unet_2d_blocks.py
MODEL_TYPES = ("AutoencoderTiny",)


class AutoencoderTiny(Sizes):
    """Sizes specific to this architecture: of each side the widths of its stages, and the blocks in each."""

    encoder: tuple[tuple[int, int], ...]
    decoder: tuple[tuple[int, int], ...]
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")


def _stages(c: Config, side: str, letter: str) -> tuple[tuple[int, int], ...]:
    widths = diffusion.stage_widths(c, f"{side}_block_out_channels", letter)
    counts = c.ints(f"num_{side}_blocks", minimum=0)
    if len(widths) != len(counts):
        key = f"{side}_block_out_channels"
        raise c.unequal(key, len(widths), f"the number of entries of num_{side}_blocks", len(counts))
    named = (keys.dim(f"L{letter.lower()}{number}", count) for number, count in enumerate(counts, 1))
    return tuple(zip(widths, named, strict=True))


def spec(c: Config) -> Spec[AutoencoderTiny]:
    sizes = AutoencoderTiny.read(c, encoder=_stages(c, "encoder", "E"), decoder=_stages(c, "decoder", "D"))
    return diffusion.diffusing(c, sizes, sizes.encoder[-1][0])


def _resampling(d: int) -> Block:
    return block("convolution", weight=Tensor((d, d, 3, 3)))


def _blocks(d: int, place: int, count: int) -> Repeat:
    """So many residual blocks, numbered from `place`."""
    inner = block(conv=Block({"0": conv(d, d), "2": conv(d, d), "4": conv(d, d)}))
    return Repeat(Indices(range(place, place + int(count)), count), inner)


def _listed(runs: list[Repeat], single: Mapping[int, Node]) -> Block:
    return block(layers=(*runs, *(Repeat(Indices.fixed(place), child) for place, child in single.items())))


def blueprint(s: Spec[AutoencoderTiny]) -> Block:
    of, runs, single, place = s.own, list[Repeat](), dict[int, Node](), 0
    for number, (d, count) in enumerate(of.encoder):
        single[place] = _resampling(d) if number else conv(of.in_channels, d)
        runs.append(_blocks(d, place + 1, count))
        place += 1 + int(count)
    encoder = _listed(runs, {**single, place: conv(of.encoder[-1][0], of.latent_channels)})
    runs, single, place = [], {0: conv(of.latent_channels, of.decoder[0][0])}, 2  # 1 is an activation
    for number, (d, count) in enumerate(of.decoder, 1):
        last = number == len(of.decoder)
        runs.append(_blocks(d, place, count))
        place += int(count) + (0 if last else 1)  # images are made larger before all convolutions but the last
        single[place] = conv(d, of.out_channels) if last else _resampling(d)
        place += 1
    return block(encoder=encoder, decoder=_listed(runs, single))
