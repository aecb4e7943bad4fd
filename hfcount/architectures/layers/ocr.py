"""Parts of PP-OCR's detectors of text (arXiv:1911.08947)."""

from hfcount.architectures.layers.convolution import batch_norm, conv, transposed
from hfcount.spec.tree.nodes import Block, block


def scoring(d: int, down: int, up: int, last: int) -> Block:
    """Scores for each place, at four times the size, by a quarter of d channels; `down`, `up`, `last` are kernels."""
    narrow = d // 4
    return block(
        conv_down=block(convolution=conv(d, narrow, down), norm=batch_norm(narrow)),
        conv_up=block(convolution=transposed(narrow, narrow, up), norm=batch_norm(narrow)),
        conv_final=transposed(narrow, 1, last),
    )


def squeezing(channels: int, reduction: int) -> Block:
    """Squeeze and excitation (arXiv:1709.01507). Tensors: conv1 and conv2, to C / `reduction` and back."""
    narrow = channels // reduction
    return block(conv1=conv(channels, narrow, 1, bias=True), conv2=conv(narrow, channels, 1, bias=True))
