"""Parts of vocoders, which write waveforms from spectrograms or codes."""

from hfcount.spec import Spec
from hfcount.tree.dims import Dim
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, Tensor, block


def kernel1d(inputs: int, outputs: int, width: int, bias: bool = True) -> Block:
    """A convolution along the time. Tensors: weight (outputs, inputs, width) and, with `bias`, bias (outputs)."""
    return block(weight=Tensor((outputs, inputs, width)), bias=Tensor((outputs,)) if bias else None)


def transposed1d(inputs: int, outputs: int, width: int) -> Block:
    """A transposed convolution, which lengthens its input. Tensors: weight (inputs, outputs, width), bias (outputs)."""
    return block(weight=Tensor((inputs, outputs, width)), bias=Tensor((outputs,)))


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
        return block(conv=kernel1d(inputs, outputs, width))

    blocks: dict[str, Node] = {"0": convolution(of["mel_dim"], of["width.0"], of["kernel.0"])}
    for number in range(1, last):
        d, part = of[f"width.{number}"], of[f"width.{number}"] // scale
        parts = Repeat(Indices.below(scale - 1), convolution(part, part, of[f"kernel.{number}"]))
        blocks[str(number)] = block(
            tdnn1=convolution(of[f"width.{number - 1}"], d),
            res2net_block=block(blocks=parts),
            tdnn2=convolution(d, d),
            se_block=block(conv1=kernel1d(d, squeezed, 1), conv2=kernel1d(squeezed, d, 1)),
        )
    narrow = of["enc_attention_channels"]
    return block(
        blocks=Block(blocks),
        mfa=convolution(wide, wide, of[f"kernel.{last}"]),
        asp=block(tdnn=convolution(3 * wide, narrow), conv=kernel1d(narrow, wide, 1)),
        fc=kernel1d(2 * wide, of["enc_dim"], 1),
    )
