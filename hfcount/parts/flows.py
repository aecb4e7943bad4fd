"""Parts of normalising flows over sequences, and WaveNet's layers (arXiv:2106.06103, arXiv:1609.03499)."""

from hfcount.parts.codecs import normalised
from hfcount.parts.norms import layer_norm
from hfcount.parts.temporal import conv
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, Tensor, block


def wavenet(d: int, layers: int, kernel: int, condition: int) -> Block:
    """WaveNet, with normalised weights.

    Tensors: in_layers (2·d, d, kernel) and res_skip_layers (2·d, d, 1), whose last makes only d; with a `condition`, of
    that width, cond_layer (2·d·N, condition, 1).
    """
    last = int(layers) - 1
    through = Repeat(Indices(range(last), layers - 1), normalised(d, 2 * d, 1))
    return block(
        cond_layer=normalised(condition, 2 * d * layers, 1) if condition else None,
        in_layers=Repeat(Indices.below(layers), normalised(d, 2 * d, kernel)),
        res_skip_layers=(through, Repeat(Indices.of([last]), normalised(d, d, 1))),
    )


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


def spline(d: int, channels: int, bins: int, through: Block) -> Block:
    """A flow by splines of `bins` pieces. Tensors: conv_pre (d, C, 1), `through`, conv_proj (C·(3·bins - 1), d, 1)."""
    out = conv(d, channels * (3 * bins - 1), 1)
    return block(conv_pre=conv(channels, d, 1), conv_dds=through, conv_proj=out)
