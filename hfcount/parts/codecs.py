"""Parts of codecs, which turn a waveform into codes and back."""

from collections.abc import Callable, Mapping

from hfcount.parts.conformer import lstm
from hfcount.parts.norms import layer_norm
from hfcount.parts.temporal import conv, upsampling
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, Tensor, block

Convolution = Callable[[int, int, int, bool], Block]
"""Builds a convolution of these inputs, outputs and kernel; transposed or not."""


def plain(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """A convolution as it is. Tensors: conv, with a bias."""
    return block(conv=(upsampling if transposed else conv)(inputs, outputs, kernel))


def grouped(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """The same with a norm behind it. Tensors: conv, norm (outputs)."""
    return Block({**plain(inputs, outputs, kernel, transposed).children, "norm": layer_norm(outputs)})


def weight_normed(inputs: int, outputs: int, kernel: int, transposed: bool) -> Block:
    """A convolution whose weight is stored as length and direction (arXiv:1602.07868), and its bias.

    Tensors: conv.parametrizations.weight.original0, one length for each of the first dimension, original1, conv.bias.
    """
    return block(conv=normalised(inputs, outputs, kernel, transposed))


def normalised(inputs: int, outputs: int, kernel: int, transposed: bool = False, bias: bool = True) -> Block:
    """The same under no name of its own."""
    first, second = (inputs, outputs) if transposed else (outputs, inputs)
    parted = block(original0=Tensor((first, 1, 1)), original1=Tensor((first, second, kernel)))
    return block(bias=Tensor((outputs,)) if bias else None, parametrizations=block(weight=parted))


def seanet_encoder(of: Mapping[str, int], out: int, build: Convolution = plain, recurrent: int = 0) -> Block:
    """SEANet's encoder (arXiv:2009.02095): residual layers and a convolution for each ratio, from the last on.

    Its layers are numbered with the activations between them. The widths double from num_filters on.

    Args:
        of: what hfcount.keys.seanet gives.
        out: the width of its output.
        build: makes a convolution.
        recurrent: layers of long short-term memory behind.
    """
    count, width = of["num_residual_layers"], of["num_filters"]
    layers: list[Node] = [_at(0, build(of["audio_channels"], width, of["kernel_size"], False))]
    step, at = int(count) + 2, 1
    for number in reversed(range(of["ratios"])):
        layers.append(_residual(of, width, at, build))
        layers.append(_at(at + step - 1, build(width, 2 * width, 2 * of[f"ratio.{number}"], False)))
        width, at = 2 * width, at + step
    if recurrent:
        layers.append(_at(at, block(lstm=lstm(width, width, recurrent))))
        at += 1
    layers.append(_at(at + 1, build(width, out, of["last_kernel_size"], False)))
    return block("convolution", layers=tuple(layers))


def seanet_decoder(of: Mapping[str, int], inputs: int, build: Convolution = plain, recurrent: int = 0) -> Block:
    """SEANet's decoder, which goes the other way; the arguments are those of `seanet_encoder`."""
    count, width = of["num_residual_layers"], of["num_filters"] * 2 ** int(of["ratios"])
    layers: list[Node] = [_at(0, build(inputs, width, of["kernel_size"], False))]
    step, at = int(count) + 2, 1
    if recurrent:
        layers.append(_at(at, block(lstm=lstm(width, width, recurrent))))
        at += 1
    for number in range(of["ratios"]):
        half = of["num_filters"] * 2 ** (int(of["ratios"]) - number - 1)
        layers.append(_at(at + 1, build(width, half, 2 * of[f"ratio.{number}"], True)))
        layers.append(_residual(of, half, at + 2, build))
        width, at = half, at + step
    layers.append(_at(at + 1, build(width, of["audio_channels"], of["last_kernel_size"], False)))
    return block("convolution", layers=tuple(layers))


def _at(number: int, body: Block) -> Repeat:
    return Repeat(Indices.of([number]), body)


def _residual(of: Mapping[str, int], width: int, start: int, build: Convolution) -> Repeat:
    """Residual layers, whose convolutions stand between activations."""
    count, narrow = of["num_residual_layers"], width // of["compress"]
    inner = build(width, narrow, of["residual_kernel_size"], False)
    body = block(
        block=Block({"1": inner, "3": build(narrow, width, 1, False)}),
        shortcut=build(width, width, 1, False) if of["use_conv_shortcut"] else None,
    )
    return Repeat(Indices(range(start, start + int(count)), count), body)


def snake(width: int) -> Block:
    """An activation with a period for each channel (arXiv:2006.08195). Tensors: alpha (1, width, 1)."""
    return block(alpha=Tensor((1, width, 1)))


def dac_unit(width: int, active: Callable[[int], Block] = snake) -> Block:
    """A residual unit (arXiv:2306.06546). Tensors: snake1, conv1 (d, d, 7), snake2, conv2 (d, d, 1)."""
    return block(snake1=active(width), conv1=conv(width, width, 7), snake2=active(width), conv2=conv(width, width, 1))


def dac_encoder(of: Mapping[str, int], out: int, active: Callable[[int], Block] = snake) -> Block:
    """DAC's encoder: a block for each ratio, which doubles the width. `of` has the ratios by number, and `narrow`.

    `active` builds an activation.
    """
    width, blocks = of["narrow"], dict[str, Block]()
    for number in range(of["ratios"]):
        units = {f"res_unit{place}": dac_unit(width, active) for place in (1, 2, 3)}
        coarser = conv(width, 2 * width, 2 * of[f"ratio.{number}"])
        blocks[str(number)] = Block({**units, "snake1": active(width), "conv1": coarser})
        width = 2 * width
    return block(
        "convolution",
        conv1=conv(1, of["narrow"], 7),
        block=Block(blocks),
        snake1=active(width),
        conv2=conv(width, out, 3),
    )


def dac_decoder(of: Mapping[str, int], inputs: int) -> Block:
    """DAC's decoder: a block for each ratio, which halves the width. `of` has the ratios by number, and `wide`."""
    wide, blocks = of["wide"], dict[str, Block]()
    before = wide
    for number in range(of["ratios_up"]):
        width = wide // 2 ** (number + 1)
        units = {f"res_unit{place}": dac_unit(width) for place in (1, 2, 3)}
        finer = upsampling(before, width, 2 * of[f"ratio_up.{number}"])
        blocks[str(number)] = Block({"snake1": snake(before), "conv_t1": finer, **units})
        before = width
    return block(
        "convolution",
        conv1=conv(inputs, wide, 7),
        block=Block(blocks),
        snake1=snake(before),
        conv2=conv(before, 1, 7),
    )


def semantic_encoder(of: Mapping[str, int], d: int) -> Block:
    """Blocks that code what a recogniser made of speech, d wide; `of` is what hfcount.keys.semantic gives.

    Tensors: conv (d, d, w); of each of conv_blocks res_units, each with conv1 (d_i, d_i, w_u) and conv2 (d_i, d_i, 1),
    and conv (d_i+1, d_i, 3, or 2·s where it strides).
    """
    width, blocks = d, dict[str, Block]()
    for number in range(of["blocks"]):
        stride, out = of[f"stride.{number}"], of[f"width.{number}"]
        coarser = conv(width, out, 3 if stride == 1 else 2 * stride)
        blocks[str(number)] = block(res_units=_units(of, width), conv=coarser)
        width = out
    return block("convolution", conv=conv(d, d, of["kernel_size"], False), conv_blocks=Block(blocks))


def semantic_decoder(of: Mapping[str, int], d: int) -> Block:
    """The other way. Tensors: conv1 (d_1, d, w), conv_blocks, transposed where they stride, conv2 (d, d, w)."""
    blocks, last = dict[str, Block](), int(of["blocks"]) - 1
    for number in range(of["blocks"]):
        stride, width = of[f"stride.{number}"], of[f"width.{number}"]
        out = d if number == last else of[f"width.{number + 1}"]
        finer = conv(width, out, 3) if stride == 1 else upsampling(width, out, 2 * stride, False)
        blocks[str(number)] = block(conv=finer, res_units=_units(of, out))
    first, kernel = of["width.0"], of["kernel_size"]
    return block(
        "convolution",
        conv1=conv(d, first, kernel, False),
        conv_blocks=Block(blocks),
        conv2=conv(d, d, kernel, False),
    )


def _units(of: Mapping[str, int], width: int) -> Repeat:
    unit = block(conv1=conv(width, width, of["unit_kernel_size"], False), conv2=conv(width, width, 1, False))
    return Repeat(Indices.below(of["units"]), unit)


def snake_beta(width: int) -> Block:
    """An activation with a period and a strength for each channel. Tensors: act.alpha and act.beta (width)."""
    return block(act=block(alpha=Tensor((width,)), beta=Tensor((width,))))
