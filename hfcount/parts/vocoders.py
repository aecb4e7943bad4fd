"""Networks that make waveforms."""

from collections.abc import Mapping

from hfcount.parts.temporal import conv, upsampling
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block


def hifigan(of: Mapping[str, int], inputs: int, first: int = 7, last_bias: bool = True) -> Block:
    """HiFi-GAN (arXiv:2010.05646).

    Tensors: conv_pre (C, inputs, first); each upsampler.i halves C by a transposed convolution w_i wide, and resblocks
    follow it, one for each w_j, with convs1 and convs2 (C, C, w_j) for each dilation; conv_post (1, C, 7).

    Args:
        of: what hfcount.keys.hifigan gives.
        inputs: elements of a frame.
        first: the width of the first convolution.
        last_bias: whether the last convolution has a bias.
    """
    channels = of["channels"]
    upsamplers, blocks, before = dict[str, Block](), dict[str, Block](), channels
    for number in range(of["upsamplings"]):
        width = channels // 2 ** (number + 1)
        upsamplers[str(number)] = upsampling(before, width, of[f"kernel.{number}"])
        for place in range(of["blocks"]):
            dilations = Indices.below(of[f"dilations.{place}"])
            one = Repeat(dilations, conv(width, width, of[f"block.{place}"]))
            blocks[str(number * of["blocks"] + place)] = block(convs1=one, convs2=one)
        before = width
    return block(
        "other",
        conv_pre=conv(inputs, channels, first),
        upsampler=Block(upsamplers),
        resblocks=Block(blocks),
        conv_post=conv(before, 1, 7, last_bias),
    )
