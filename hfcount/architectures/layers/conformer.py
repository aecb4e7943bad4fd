"""Conformers (arXiv:2005.08100) as NeMo builds them, and what its recognisers have around them."""

from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.spec import Layer
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


def nemo_layer(d: int, one: Layer, attention: Block, convolution: Block, bias: bool = True) -> Block:
    """A layer: a network, attention, a convolution, and a network again.

    Tensors: feed_forward1, self_attn, conv and feed_forward2; norm_feed_forward1, norm_self_att, norm_conv,
    norm_feed_forward2 and norm_out (d), which have no biases without `bias`.
    """
    width, with_bias = one.dense.width, one.dense.bias
    network = block("mlp", linear1=Linear(d, width, with_bias), linear2=Linear(width, d, with_bias))
    norms = ("feed_forward1", "self_att", "conv", "feed_forward2", "out")
    return block(
        feed_forward1=network,
        self_attn=attention,
        conv=convolution,
        feed_forward2=network,
        **{f"norm_{name}": layer_norm(d, bias) for name in norms},
    )


def nemo_convolution(d: int, kernel: int, norm: Block, bias: bool) -> Block:
    """Its convolution. Tensors: pointwise_conv1 (2·d, d, 1), depthwise_conv (d, 1, w), norm, pointwise_conv2."""
    return block(
        "convolution",
        pointwise_conv1=conv(d, 2 * d, 1, bias),
        depthwise_conv=conv(1, d, kernel, bias),
        norm=norm,
        pointwise_conv2=conv(d, d, 1, bias),
    )


def lstm(inputs: int, d: int, layers: int, both: bool = False) -> Block:
    """Long short-term memory (https://doi.org/10.1162/neco.1997.9.8.1735), with `both` in both directions.

    Tensors: weight_ih_l0 (4·d, inputs), in further layers (4·d, d) or for `both` (4·d, 2·d); weight_hh_l0 (4·d, d),
    bias_ih_l0 and bias_hh_l0 (4·d); and so on for each layer, and for the way back with _reverse.
    """
    found = dict[str, Tensor]()
    for number in range(layers):
        for way in ("", "_reverse") if both else ("",):
            found[f"weight_ih_l{number}{way}"] = Tensor((4 * d, inputs))
            found[f"weight_hh_l{number}{way}"] = Tensor((4 * d, d))
            found[f"bias_ih_l{number}{way}"] = found[f"bias_hh_l{number}{way}"] = Tensor((4 * d,))
        inputs = 2 * d if both else d
    return Block(found, "other")
