"""Networks that make waveforms from spectrograms or codes, and what they are told of a voice."""

from collections.abc import Mapping

from hfcount.parts.temporal import conv, upsampling
from hfcount.spec import Spec
from hfcount.tree.dims import Dim
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, Tensor, block


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


def snake(d: int) -> Block:
    """A periodic activation with its own frequency and size for each channel (arXiv:2206.04658): alpha, beta (d)."""
    return block(alpha=Tensor((d,)), beta=Tensor((d,)))


def halved(d: int, times: int) -> int:
    """d / 2^times, rounded down."""
    return d // Dim.named("", 2**times) if times else d


def voice_encoder(s: Spec) -> Block:
    """ECAPA-TDNN, which sums up a voice (arXiv:2005.07143), with C_i channels and kernels of w_i.

    Tensors: blocks.0.conv (C_1, b, w_1); blocks.i with tdnn1 and tdnn2, res2net_block and se_block; mfa, asp, and fc
    (d_s, 2·C_n, 1).
    """
    of, last = s.traits, s.traits["convolutions"] - 1
    wide, scale, squeezed = of[f"width.{last}"], of["enc_res2net_scale"], of["enc_se_channels"]

    def convolution(inputs: int, outputs: int, width: int = 1) -> Block:
        return block(conv=conv(inputs, outputs, width))

    blocks: dict[str, Node] = {"0": convolution(of["mel_dim"], of["width.0"], of["kernel.0"])}
    for number in range(1, last):
        d, part = of[f"width.{number}"], of[f"width.{number}"] // scale
        parts = Repeat(Indices.below(scale - 1), convolution(part, part, of[f"kernel.{number}"]))
        blocks[str(number)] = block(
            tdnn1=convolution(of[f"width.{number - 1}"], d),
            res2net_block=block(blocks=parts),
            tdnn2=convolution(d, d),
            se_block=block(conv1=conv(d, squeezed, 1), conv2=conv(squeezed, d, 1)),
        )
    narrow = of["enc_attention_channels"]
    return block(
        blocks=Block(blocks),
        mfa=convolution(wide, wide, of[f"kernel.{last}"]),
        asp=block(tdnn=convolution(3 * wide, narrow), conv=conv(narrow, wide, 1)),
        fc=conv(2 * wide, of["enc_dim"], 1),
    )
