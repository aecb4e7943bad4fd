"""The layers of conformers, named as in wav2vec 2.0 and its kin."""

from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.temporal import conformer_convolution, conv
from hfcount.spec import GQA, Layer
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


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


def conformer_layer(d: int, one: Layer, attention: Block, kernel: int, batch: bool) -> Block:
    """A conformer's layer: a network, attention, a convolution, and a network again (arXiv:2005.08100).

    Tensors: ffn1, self_attn, conv_module, ffn2, a norm of each (d) and final_layer_norm (d).
    """
    network, norm = feed_forward(d, one.dense.width), layer_norm(d)
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
