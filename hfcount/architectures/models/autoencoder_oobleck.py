"""The autoencoder of Stable Audio, for waves of sound (arXiv:2407.14358)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import numbered
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("AutoencoderOobleck",)  # diffusers 0.42.1: autoencoder_oobleck.py


class Oobleck(Sizes):
    """Its sizes; `factors` are how many times as wide each level is, the first of which is that of a wave."""

    encoder_hidden_size: int = size("d_e")
    decoder_channels: int = size("d_d")
    decoder_input_channels: int = size("z")
    audio_channels: int = size("C")
    ratios: tuple[int, ...]
    factors: tuple[int, ...]


def spec(c: Config) -> Spec[Oobleck]:
    ratios, factors = c.ints("downsampling_ratios", minimum=1), c.ints("channel_multiples", minimum=1)
    if len(factors) < len(ratios):
        raise c.unequal("channel_multiples", len(factors), "the number of downsampling_ratios", len(ratios))
    sizes = Oobleck.read(
        c,
        ratios=tuple(keys.dim(f"r{place}", ratio) for place, ratio in enumerate(ratios, 1)),
        factors=(1, *(keys.dim(f"m{place}", factor) for place, factor in enumerate(factors, 1))),
    )
    return diffusion.diffusing(c, sizes, sizes.encoder_hidden_size)


def blueprint(s: Spec[Oobleck]) -> Block:
    of, first, last = s.own, s.own.encoder_hidden_size, s.own.decoder_channels
    levels, deepest = len(of.ratios), of.factors[-1]
    down = [
        _down(first * of.factors[place], first * of.factors[place + 1], ratio) for place, ratio in enumerate(of.ratios)
    ]
    up = [
        _up(last * of.factors[levels - place], last * of.factors[levels - place - 1], ratio)
        for place, ratio in enumerate(reversed(of.ratios))
    ]
    encoder = block(
        conv1=_conv(of.audio_channels, first, 7),
        block=numbered(down),
        snake1=_snake(first * deepest),
        conv2=_conv(first * deepest, first, 3),
    )
    decoder = block(
        conv1=_conv(of.decoder_input_channels, last * deepest, 7),
        block=numbered(up),
        snake1=_snake(last),
        conv2=_conv(last, of.audio_channels, 7, bias=False),
    )
    return block(encoder=encoder, decoder=decoder)


def _units(width: int) -> Block:
    """Three residual units, unlike in how far apart the places are that they see."""
    active = _snake(width)
    unit = block(snake1=active, conv1=_conv(width, width, 7), snake2=active, conv2=_conv(width, width, 1))
    return block(res_unit1=unit, res_unit2=unit, res_unit3=unit)


def _down(inputs: int, outputs: int, ratio: int) -> Block:
    return block(**_units(inputs).children, snake1=_snake(inputs), conv1=_conv(inputs, outputs, 2 * ratio))


def _up(inputs: int, outputs: int, ratio: int) -> Block:
    longer = _conv(inputs, outputs, 2 * ratio, transposed=True)
    return block(snake1=_snake(inputs), conv_t1=longer, **_units(outputs).children)


def _snake(width: int) -> Block:
    scale = Tensor((1, width, 1))
    return block(alpha=scale, beta=scale)


def _conv(inputs: int, outputs: int, kernel: int, bias: bool = True, transposed: bool = False) -> Block:
    """A convolution, or a transposed one, with the sizes of its rows apart from their directions."""
    first, second = (inputs, outputs) if transposed else (outputs, inputs)
    return block(
        "convolution",
        bias=Tensor((outputs,)) if bias else None,
        weight_g=Tensor((first, 1, 1)),
        weight_v=Tensor((first, second, kernel)),
    )
