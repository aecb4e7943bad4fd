"""Parts of PP-LCNet and what is built on it."""

from hfcount.architectures.layers.convolution import conv, normed
from hfcount.architectures.layers.layers import altered
from hfcount.spec.tree.nodes import Block, Tensor, block


def squeezing(channels: int, reduction: int) -> Block:
    """Squeeze and excitation (arXiv:1709.01507). Tensors under convolutions: 0 and 2, to C / `reduction` and back."""
    narrow = channels // reduction
    return block(
        convolutions=Block({"0": conv(channels, narrow, 1, bias=True), "2": conv(narrow, channels, 1, bias=True)})
    )


def affine_conv(inputs: int, outputs: int, side: int, groups: int = 1, affine: bool = False) -> Block:
    """A convolution and a batch normalisation, with `affine` a scale and a bias for all of its output in `lab`."""
    one = Tensor((1,), component="convolution")
    return altered(normed(inputs, outputs, side, groups=groups), lab=block(scale=one, bias=one) if affine else None)


def stem(first: int, middle: int, last: int, affine: bool) -> Block:
    """The stem of PP-HGNetV2. Tensors: stem1, stem2a, stem2b, stem3 and stem4, from `first` to `last` channels."""
    half = middle // 2
    return block(
        stem1=affine_conv(first, middle, 3, affine=affine),
        stem2a=affine_conv(middle, half, 2, affine=affine),
        stem2b=affine_conv(half, middle, 2, affine=affine),
        stem3=affine_conv(2 * middle, middle, 3, affine=affine),
        stem4=affine_conv(middle, last, 1, affine=affine),
    )
