"""Codecs, which turn a waveform into codes and back: the networks of SEANet and of DAC."""

from collections.abc import Callable, Sequence
from typing import Self

from hfcount.architectures.keys import dim
from hfcount.architectures.layers.temporal import Convolution, conv, lstm, normalised, plain, upsampling
from hfcount.mapper import Config, Sizes, count, flag
from hfcount.spec import Record
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block, buffer

_DEEPEST = 32  # a width that is doubled more often holds more than any size may


def ratios(c: Config, key: str, default: Sequence[int] = ()) -> tuple[int, ...]:
    """By how much each of a codec's blocks shortens the waveform; the widths double or halve as often."""
    values = c.ints(key) or list(default)
    if not 0 < len(values) <= _DEEPEST or any(ratio < 1 for ratio in values):
        raise c.error("out-of-range", f"{key} must name 1 to {_DEEPEST} ratios, of 1 and more.", key, "Correct it.")
    return tuple(dim(f"r{number}", ratio) for number, ratio in enumerate(values, 1))


def product(numbers: Sequence[int]) -> int:
    """The product of sizes."""
    result: int = Dim.of(1, {(): 1})
    for number in numbers:
        result = result * number
    return result


class Seanet(Sizes):
    """SEANet (arXiv:2009.02095): residual layers and a convolution for each ratio.

    Its layers are numbered with the activations between them; the widths double from num_filters on.
    """

    ratios: tuple[int, ...]
    audio_channels: int = count("C_a")
    num_filters: int = count("F")
    num_residual_layers: int = count("N_r")
    kernel_size: int = count("w_k")
    last_kernel_size: int = count("w_l")
    residual_kernel_size: int = count("w_r")
    compress: int = count("z")
    use_conv_shortcut: bool = flag(absent=False)

    @staticmethod
    def by_rates(c: Config, default: Sequence[int] = ()) -> "Seanet":
        """The network whose decoder has upsampling_ratios, by default these."""
        return Seanet.read(c, ratios=ratios(c, "upsampling_ratios", default))

    def encoder(self, out: int, build: Convolution = plain, recurrent: int = 0) -> Block:
        """The encoder, from the last ratio on.

        Args:
            out: the width of its output.
            build: makes a convolution.
            recurrent: layers of long short-term memory behind.
        """
        width = self.num_filters
        layers: list[Node] = [_at(0, build(self.audio_channels, width, self.kernel_size, False))]
        step, at = int(self.num_residual_layers) + 2, 1
        for ratio in reversed(self.ratios):
            layers.append(self._residual(width, at, build))
            layers.append(_at(at + step - 1, build(width, 2 * width, 2 * ratio, False)))
            width, at = 2 * width, at + step
        if recurrent:
            layers.append(_at(at, block(lstm=lstm(width, width, recurrent))))
            at += 1
        layers.append(_at(at + 1, build(width, out, self.last_kernel_size, False)))
        return block("convolution", layers=tuple(layers))

    def decoder(self, inputs: int, build: Convolution = plain, recurrent: int = 0) -> Block:
        """The decoder, which goes the other way; the arguments are those of `encoder`."""
        times = len(self.ratios)
        width = self.num_filters * 2**times
        layers: list[Node] = [_at(0, build(inputs, width, self.kernel_size, False))]
        step, at = int(self.num_residual_layers) + 2, 1
        if recurrent:
            layers.append(_at(at, block(lstm=lstm(width, width, recurrent))))
            at += 1
        for number, ratio in enumerate(self.ratios, 1):
            half = self.num_filters * 2 ** (times - number)
            layers.append(_at(at + 1, build(width, half, 2 * ratio, True)))
            layers.append(self._residual(half, at + 2, build))
            width, at = half, at + step
        layers.append(_at(at + 1, build(width, self.audio_channels, self.last_kernel_size, False)))
        return block("convolution", layers=tuple(layers))

    def _residual(self, width: int, start: int, build: Convolution) -> Repeat:
        """Residual layers, whose convolutions stand between activations."""
        several, narrow = self.num_residual_layers, width // self.compress
        inner = build(width, narrow, self.residual_kernel_size, False)
        body = block(
            block=Block({"1": inner, "3": build(narrow, width, 1, False)}),
            shortcut=build(width, width, 1, False) if self.use_conv_shortcut else None,
        )
        return Repeat(Indices(range(start, start + int(several)), several), body)


def _at(number: int, body: Block) -> Repeat:
    return Repeat(Indices.of([number]), body)


def snake(width: int) -> Block:
    """An activation with a period for each channel (arXiv:2006.08195). Tensors: alpha (1, width, 1)."""
    return block(alpha=Tensor((1, width, 1)))


def _unit(width: int, active: Callable[[int], Block] = snake) -> Block:
    """A residual unit (arXiv:2306.06546). Tensors: snake1, conv1 (d, d, 7), snake2, conv2 (d, d, 1)."""
    return block(snake1=active(width), conv1=conv(width, width, 7), snake2=active(width), conv2=conv(width, width, 1))


class DacEncoder(Record):
    """DAC's encoder, which begins with `width` channels: a block for each ratio, which doubles them."""

    width: int
    ratios: tuple[int, ...]

    @classmethod
    def of(cls, width: int, ratios: Sequence[int]) -> Self:
        """The encoder of these sizes."""
        return cls(width=dim("F", width), ratios=tuple(ratios))

    def tensors(self, out: int, active: Callable[[int], Block] = snake) -> Block:
        """Its tensors; `active` builds an activation.

        conv1 (F, 1, 7); of each block res_unit1 to res_unit3, snake1, conv1 (2·C, C, 2·r_i); snake1, conv2 (out, C, 3).
        """
        width, blocks = self.width, dict[str, Block]()
        for number, ratio in enumerate(self.ratios):
            units = {f"res_unit{place}": _unit(width, active) for place in (1, 2, 3)}
            coarser = conv(width, 2 * width, 2 * ratio)
            blocks[str(number)] = Block({**units, "snake1": active(width), "conv1": coarser})
            width = 2 * width
        return block(
            "convolution",
            conv1=conv(1, self.width, 7),
            block=Block(blocks),
            snake1=active(width),
            conv2=conv(width, out, 3),
        )


class DacDecoder(Record):
    """DAC's decoder, which begins with `width` channels: a block for each ratio, which halves them."""

    width: int
    ratios: tuple[int, ...]

    @classmethod
    def of(cls, width: int, ratios: Sequence[int]) -> Self:
        """The decoder of these sizes."""
        rates = tuple(dim(f"u{number}", ratio) for number, ratio in enumerate(ratios, 1))
        return cls(width=dim("F_d", width), ratios=rates)

    def tensors(self, inputs: int) -> Block:
        """Its tensors.

        conv1 (F_d, inputs, 7); of each block snake1, conv_t1 (C, C/2, 2·u_i), res_unit1 to res_unit3; snake1, conv2 (1,
        C, 7).
        """
        wide, blocks = self.width, dict[str, Block]()
        before = wide
        for number, ratio in enumerate(self.ratios):
            width = wide // 2 ** (number + 1)
            units = {f"res_unit{place}": _unit(width) for place in (1, 2, 3)}
            finer = upsampling(before, width, 2 * ratio)
            blocks[str(number)] = Block({"snake1": snake(before), "conv_t1": finer, **units})
            before = width
        return block(
            "convolution",
            conv1=conv(inputs, wide, 7),
            block=Block(blocks),
            snake1=snake(before),
            conv2=conv(before, 1, 7),
        )


def codebook(words: int, d: int) -> Block:
    """A codebook and its running means. Tensors: inited (1), cluster_size (|V|), embed and embed_avg (|V|, d)."""
    table = buffer(words, d)
    return block(inited=buffer(1), cluster_size=buffer(words), embed=table, embed_avg=table)


def weight_normed(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """A convolution whose weight is stored as length and direction (arXiv:1602.07868), and its bias.

    Tensors: conv.parametrizations.weight.original0, one length for each of the first dimension, original1, conv.bias.
    """
    return block(conv=normalised(inputs, outputs, kernel, transposed))
