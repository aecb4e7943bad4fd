"""Parts of normalising flows over sequences, and WaveNet's layers (arXiv:2106.06103, arXiv:1609.03499)."""

from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, Tensor, block


def separable(d: int, layers: int, kernel: int) -> Block:
    """Dilated convolutions of each channel by itself, and of all channels.

    Tensors: convs_dilated (d, 1, kernel), convs_pointwise (d, d, 1), norms_1 and norms_2 (d), each of `layers`.
    """
    every = Indices.below(layers)
    return block(
        convs_dilated=Repeat(every, conv(1, d, kernel)),
        convs_pointwise=Repeat(every, conv(d, d, 1)),
        norms_1=Repeat(every, layer_norm(d)),
        norms_2=Repeat(every, layer_norm(d)),
    )


def affine(channels: int) -> Block:
    """A flow that shifts and scales. Tensors: translate and log_scale (channels, 1)."""
    own = Tensor((channels, 1))
    return block(translate=own, log_scale=own)
