"""Parts of estimators of depth, which join features of several layers of a backbone (arXiv:2103.13413)."""

from hfcount.parts.convolution import conv
from hfcount.tree.nodes import Block, block


def shrinking(d: int, width: int) -> Block:
    """Three convolutions to a depth. Tensors: conv1 (d/2, d), conv2 (width, d/2), conv3 (1, width), with biases."""
    return block(
        "other",
        conv1=conv(d, d // 2, 3, bias=True),
        conv2=conv(d // 2, width, 3, bias=True),
        conv3=conv(width, 1, 1, bias=True),
    )
