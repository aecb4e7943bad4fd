"""Vocoders and their speaker conditioning."""

from typing import NamedTuple, Self

from hfcount.architectures.keys import dim
from hfcount.architectures.layers.mixers import conv1d
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block


class Residual(NamedTuple):
    """A residual block: the width of its kernels, and how many dilations it has."""

    kernel: int
    dilations: int


class HiFiGAN(Record):
    """HiFi-GAN (arXiv:2010.05646): upsampling from `channels` on, by these kernels, with residual blocks after each."""

    channels: int
    kernels: tuple[int, ...]
    residuals: tuple[Residual, ...]

    @classmethod
    def read(cls, c: Config, prefix: str = "") -> Self:
        """Its sizes; `prefix` begins the names of its keys."""
        kernels, rates = c.ints(f"{prefix}upsample_kernel_sizes"), c.ints(f"{prefix}upsample_rates")
        widths, dilations = c.ints(f"{prefix}resblock_kernel_sizes"), c.entries(f"{prefix}resblock_dilation_sizes")
        if c.is_null(f"{prefix}resblock_dilation_sizes"):
            dilations = [[1, 3, 5]] * 3  # as its class says, though not among its defaults
        key = f"{prefix}upsample_initial_channel"
        channels, times = c.int(key, default=512), min(len(rates), len(kernels))
        if not times or times > int(channels).bit_length() - 1:
            text = (
                f"{key} is {channels:,}, and is halved {times:,} times, which must be once or more, down to 1 at least."
            )
            raise c.error("not-divisible", text, key, "Correct it, or the length of the other lists.")
        residuals = []
        for number, (width, dilated) in enumerate(zip(widths, dilations, strict=False), 1):
            if not isinstance(dilated, list):
                key = f"{prefix}resblock_dilation_sizes"
                raise c.malformed(f"{key} must hold lists.", key)
            residuals.append(Residual(dim(f"w_r{number}", width), len(dilated)))
        return cls(
            channels=dim("C_u", channels),
            kernels=tuple(dim(f"w_u{number}", kernel) for number, kernel in enumerate(kernels[:times], 1)),
            residuals=tuple(residuals),
        )

    def tensors(self, inputs: int, first: int = 7, last_bias: bool = True) -> Block:
        """Its tensors, for frames of `inputs` elements; `first` is the width of the first convolution.

        conv_pre (C, inputs, first); each upsampler.i halves C by a transposed convolution w_i wide, and resblocks
        follow it, one for each w_j, with convs1 and convs2 (C, C, w_j) for each dilation; conv_post (1, C, 7).
        """
        upsamplers, blocks, before = dict[str, Block](), list[Block](), self.channels
        for number, kernel in enumerate(self.kernels):
            width = self.channels // 2 ** (number + 1)
            upsamplers[str(number)] = upsampling(before, width, kernel)
            for residual in self.residuals:
                convs = Repeat(Indices.below(residual.dilations), conv(width, width, residual.kernel))
                blocks.append(block(convs1=convs, convs2=convs))
            before = width
        return block(
            "other",
            conv_pre=conv(inputs, self.channels, first),
            upsampler=Block(upsamplers),
            resblocks=Block({str(place): made for place, made in enumerate(blocks)}),
            conv_post=conv(before, 1, 7, last_bias),
        )


def snake(d: int) -> Block:
    """A periodic activation with its own frequency and size for each channel (arXiv:2206.04658): alpha, beta (d)."""
    return block(alpha=Tensor((d,)), beta=Tensor((d,)))


def halved(d: int, times: int) -> int:
    """d / 2^times, rounded down."""
    return d // 2**times if times else d


def lengthened(d: int, ratios: tuple[int, ...]) -> Block:
    """Frames of d elements made longer: a transposed convolution for each ratio, and a ConvNeXt layer after it."""
    convnext = block(
        dwconv=block(conv=conv1d(d, 7, bias=True)),
        norm=layer_norm(d),
        pwconv1=Linear(d, 4 * d, True),
        pwconv2=Linear(4 * d, d, True),
        gamma=Tensor((d,)),
    )
    longer = dict[str, Node]()
    for number, ratio in enumerate(ratios):
        longer[str(number)] = Block({"0": block(conv=upsampling(d, d, ratio)), "1": convnext})
    return Block(longer)


def sampled(d: int, channels: int, rates: tuple[int, ...]) -> Block:
    """Frames of d elements made into a wave: from `channels` on, which each rate halves, with units of 3 dilations."""
    waves: dict[str, Node] = {"0": block(conv=conv(d, channels, 7))}
    for number, rate in enumerate(rates):
        wide, narrow = halved(channels, number), halved(channels, number + 1)
        wave, mix = block(conv=conv(narrow, narrow, 7)), block(conv=conv(narrow, narrow, 1))
        unit = block(act1=snake(narrow), conv1=wave, act2=snake(narrow), conv2=mix)
        step = block(conv=upsampling(wide, narrow, 2 * rate))
        units = {str(place): unit for place, _ in enumerate(_DILATIONS, 2)}
        waves[str(number + 1)] = block(block=Block({"0": snake(wide), "1": step, **units}))
    times = len(rates)
    last = halved(channels, times)
    waves |= {str(times + 1): snake(last), str(times + 2): block(conv=conv(last, 1, 7))}
    return Block(waves)


_DILATIONS = (1, 3, 9)


class _Convolution(Record):
    channels: int
    kernel: int


def _convolutions(c: Config) -> tuple[_Convolution, ...]:
    widths, kernels = c.ints("enc_channels"), c.ints("enc_kernel_sizes")
    if len({len(widths), len(kernels), c.length("enc_dilations")}) > 1 or not widths:
        raise c.error(
            "list-length", "enc_channels, enc_kernel_sizes and enc_dilations must have the same length.", "enc_channels"
        )
    return tuple(
        _Convolution(channels=dim(f"C{number}", width), kernel=dim(f"w{number}", kernel))
        for number, (width, kernel) in enumerate(zip(widths, kernels, strict=True), 1)
    )


class VoiceEncoder(Sizes):
    """ECAPA-TDNN, a speaker encoder (arXiv:2005.07143), with C_i channels and kernels of w_i."""

    convolutions: tuple[_Convolution, ...] = derived(_convolutions)
    dim: int = size("d_s", "enc_dim")
    attention_channels: int = size("C_a", "enc_attention_channels")
    se_channels: int = size("C_s", "enc_se_channels")
    res2net_scale: int = size("", "enc_res2net_scale")

    def tensors(self, inputs: int) -> Block:
        """Its tensors, for frames of `inputs` elements.

        blocks.0.conv (C_1, inputs, w_1); blocks.i with tdnn1 and tdnn2, res2net_block and se_block; mfa, asp, and fc
        (d_s, 2·C_n, 1).
        """
        first, last = self.convolutions[0], self.convolutions[-1]
        wide, scale, squeezed = last.channels, self.res2net_scale, self.se_channels

        def convolution(inputs: int, outputs: int, width: int = 1) -> Block:
            return block(conv=conv(inputs, outputs, width))

        blocks: dict[str, Node] = {"0": convolution(inputs, first.channels, first.kernel)}
        before = first.channels
        for number, layer in enumerate(self.convolutions[1:-1], 1):
            d, part = layer.channels, layer.channels // scale
            parts = Repeat(Indices.below(scale - 1), convolution(part, part, layer.kernel))
            blocks[str(number)] = block(
                tdnn1=convolution(before, d),
                res2net_block=block(blocks=parts),
                tdnn2=convolution(d, d),
                se_block=block(conv1=conv(d, squeezed, 1), conv2=conv(squeezed, d, 1)),
            )
            before = d
        narrow = self.attention_channels
        return block(
            blocks=Block(blocks),
            mfa=convolution(wide, wide, last.kernel),
            asp=block(tdnn=convolution(3 * wide, narrow), conv=conv(narrow, wide, 1)),
            fc=conv(2 * wide, self.dim, 1),
        )
