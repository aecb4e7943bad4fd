"""Conformers (arXiv:2005.08100) as NeMo builds them, and what its recognisers have around them."""

from hfcount.parts.classic import mha
from hfcount.parts.ffn import fused_swiglu
from hfcount.parts.layers import altered
from hfcount.parts.model import embedding, stack
from hfcount.parts.norms import layer_norm
from hfcount.parts.temporal import conv
from hfcount.parts.vision import convolution
from hfcount.spec import GQA, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block, buffer


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


def nemo_attention(d: int, a: GQA) -> Block:
    """Attention with positions as in Transformer-XL (arXiv:1901.02860).

    Tensors: q_proj, k_proj, v_proj, o_proj; relative_k_proj (h·h_d, d), bias_u and bias_v (h, h_d).
    """
    own = Tensor((a.heads, a.head_dim))
    return altered(mha(d, a, "o_proj"), relative_k_proj=Linear(d, a.heads * a.head_dim), bias_u=own, bias_v=own)


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


def phi4_conformer(s: Spec, released: bool = False) -> Block:
    """The audio tower of Phi-4-multimodal, with a learned bias for each distance (arXiv:2503.01743).

    With `released` the names are those of its release, such as linear_q and net.0.linear.
    """
    d, of, channels = s.hidden, s.traits, s.traits["nemo_conv_channels"]
    heads, wide = s.layers[0].layer.attention.heads, of["ext_pw_out_channel"]

    def layer(one: Layer) -> Block:
        norm, switch, width = layer_norm(d), Tensor((1, wide, 1)), one.dense.width
        inner = fused_swiglu(d, width, True).children
        if released:
            inner = {"net": Block({"0": block(linear=Linear(d, 2 * width, True)), "2": Linear(width, d, True)})}
        network = Block({"layer_norm": norm, **inner}, "mlp")
        deep = conv(1, of["deep"], of["kernel_size"])
        mixed = block(
            layer_norm=norm,
            glu=block(b1=switch, b2=switch, ext_pw_conv_1d=conv(d, 2 * wide, 1)),
            dw_sep_conv_1d=block(dw_conv=deep, pw_conv=conv(of["deep"], of["separable"], 1)),
            ext_pw_conv_1d=conv(d, wide, 1),
        )
        attention = mha(d, one.attention, "o_proj")
        if released:
            names = dict(zip(attention.children, ("linear_q", "linear_k", "linear_v", "linear_out"), strict=True))
            attention = Block({names[old]: child for old, child in attention.children.items()}, "attention")
        networks = {"feed_forward_in": network, "feed_forward_out": network}
        return block(self_attn=attention, conv=mixed, **networks, layer_norm_att=norm, layer_norm=norm)

    convolutions: dict[str, Node] = {"0": convolution(1, channels, 3)}
    for step in range(1, of["steps"]):  # an activation stands between them
        convolutions[str(3 * step - 1)] = convolution(1, channels, 3)
        convolutions[str(3 * step)] = convolution(channels, channels, 1)
    embed = block("embedding", conv=Block(convolutions), out=Linear(channels * of["bands"], d, True))
    scale = buffer(of["input_size"])
    return block(
        encoder_embedding=block("norm", global_mean=scale, global_invstd=scale),
        embed=embed,
        relative_attention_bias_layer=block(bias_values=embedding(of["buckets"], heads)),
        encoders=stack(s.layers, layer),
    )
