"""Layers of conformers (arXiv:2005.08100), as NeMo names them, and as wav2vec 2.0 does."""

from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.spec import GQA, Layer
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


def nemo_layer(d: int, layer: Layer, attention: Block, convolution: Block, bias: bool = True) -> Block:
    """A layer: a network, attention, a convolution, and a network again.

    Tensors: feed_forward1, self_attn, conv and feed_forward2; norm_feed_forward1, norm_self_att, norm_conv,
    norm_feed_forward2 and norm_out (d), which have no biases without `bias`.
    """
    width, with_bias = layer.dense.width, layer.dense.bias
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


def conformer_convolution(d: int, kernel: int, batch: bool) -> Block:
    """The convolution of a conformer (arXiv:2005.08100).

    Tensors: layer_norm (d), pointwise_conv1 (2·d, d, 1), depthwise_conv (d, 1, kernel), batch_norm or
    depthwise_layer_norm (d), pointwise_conv2 (d, d, 1).
    """
    return block(
        "other",
        layer_norm=layer_norm(d),
        pointwise_conv1=conv(d, 2 * d, 1, False),
        depthwise_conv=conv(1, d, kernel, False),
        batch_norm=batch_norm(d) if batch else None,
        depthwise_layer_norm=None if batch else layer_norm(d),
        pointwise_conv2=conv(d, d, 1, False),
    )


def feed_forward(d: int, width: int) -> Block:
    """A network of two layers. Tensors: intermediate_dense (d_ff, d), output_dense (d, d_ff), with biases."""
    return block("mlp", intermediate_dense=Linear(d, width, True), output_dense=Linear(width, d, True))


def conformer_attention(d: int, a: GQA, relative: bool = False, distances: int = 0) -> Block:
    """Attention with positions as in Transformer-XL if `relative`, or with a table of keys for each of `distances`.

    Tensors: linear_q, linear_k, linear_v and linear_out (d, d); linear_pos (d, d), pos_bias_u and pos_bias_v (h, h_d);
    distance_embedding (distances, h_d).
    """
    square, bias = Linear(d, d, True), Tensor((a.heads, a.head_dim)) if relative else None
    return block(
        "attention",
        linear_q=square,
        linear_k=square,
        linear_v=square,
        linear_out=square,
        linear_pos=Linear(d, d) if relative else None,
        pos_bias_u=bias,
        pos_bias_v=bias,
        distance_embedding=block(weight=Tensor((distances, a.head_dim))) if distances else None,
    )


def conformer_layer(d: int, layer: Layer, attention: Block, kernel: int, batch: bool) -> Block:
    """A conformer's layer: a network, attention, a convolution, and a network again (arXiv:2005.08100).

    Tensors: ffn1, self_attn, conv_module, ffn2, a norm of each (d) and final_layer_norm (d).
    """
    network, norm = feed_forward(d, layer.dense.width), layer_norm(d)
    return block(
        ffn1_layer_norm=norm,
        ffn1=network,
        self_attn_layer_norm=norm,
        self_attn=attention,
        conv_module=conformer_convolution(d, kernel, batch),
        ffn2_layer_norm=norm,
        ffn2=network,
        final_layer_norm=norm,
    )


def shortening(d: int, width: int, kernel: int, a: GQA) -> Block:
    """A layer that shortens a sequence, attention and the path around it alike by a convolution (arXiv:2308.11596).

    Tensors: residual_layer_norm and self_attn_layer_norm (d), residual_conv and self_attn_conv (2·d, d, kernel),
    self_attn, ffn_layer_norm (d), ffn.
    """
    convolution, norm = conv(d, 2 * d, kernel), layer_norm(d)
    return block(
        residual_layer_norm=norm,
        residual_conv=convolution,
        self_attn_layer_norm=norm,
        self_attn_conv=convolution,
        self_attn=conformer_attention(d, a),
        ffn_layer_norm=norm,
        ffn=feed_forward(d, width),
    )
