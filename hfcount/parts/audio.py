"""Audio towers: the encoders that turn a spectrogram into tokens."""

from hfcount.parts.ffn import mlp
from hfcount.parts.model import embedding
from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.parts.vision_gemma import clippable
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block


def whisper(d: int, layers: int, width: int, mel: int, positions: int) -> Block:
    """Whisper's encoder (arXiv:2212.04356).

    Tensors: conv1 (d, mel, 3), conv2 (d, d, 3), embed_positions (positions, d), layers with biases everywhere but on
    the keys, and a layer_norm.
    """
    with_bias = Linear(d, d, bias=True)
    attention = block(q_proj=with_bias, k_proj=Linear(d, d), v_proj=with_bias, out_proj=with_bias)
    layer = block(self_attn=attention, self_attn_layer_norm=layer_norm(d), final_layer_norm=layer_norm(d))
    return block(
        "other",
        conv1=block(weight=Tensor((d, mel, 3)), bias=Tensor((d,))),
        conv2=block(weight=Tensor((d, d, 3)), bias=Tensor((d,))),
        embed_positions=embedding(positions, d),
        layers=Repeat(Indices.below(layers), Block({**layer.children, **mlp(d, width).children})),
        layer_norm=layer_norm(d),
    )


def conformer(d: int, layers: int, heads: int, kernel: int, first: int, second: int, out: int, clipped: int) -> Block:
    """Gemma 4's encoder, a conformer (arXiv:2303.01037): two convolutions over the spectrogram, then layers.

    Tensors: subsample_conv_projection, to `first` and then `second` channels, with a projection (d, first/4·second);
    layers of two networks of 4·d, attention with relative keys, and a convolution (d, 1, kernel) between projections;
    output_proj (out, d) with bias. With `clipped`, projections have four scalar bounds, which are buffers.
    """

    def network() -> Block:
        return block(
            ffw_layer_1=clippable(d, 4 * d, clipped),
            ffw_layer_2=clippable(4 * d, d, clipped),
            pre_layer_norm=rms_norm(d),
            post_layer_norm=rms_norm(d),
        )

    def convolution(inputs: int, outputs: int) -> Block:
        return block(conv=block(weight=Tensor((outputs, inputs, 3, 3))), norm=layer_norm(outputs, bias=False))

    square = clippable(d, d, clipped)
    attention = block(
        q_proj=square,
        k_proj=square,
        v_proj=square,
        post=square,
        relative_k_proj=Linear(d, d),
        per_dim_scale=Tensor((d // heads,)),
    )
    local = block(
        linear_start=clippable(d, 2 * d, clipped),
        linear_end=square,
        depthwise_conv1d=block(weight=Tensor((d, 1, kernel))),
        pre_layer_norm=rms_norm(d),
        conv_norm=rms_norm(d),
    )
    layer = block(
        feed_forward1=network(),
        feed_forward2=network(),
        self_attn=attention,
        lconv1d=local,
        norm_pre_attn=rms_norm(d),
        norm_post_attn=rms_norm(d),
        norm_out=rms_norm(d),
    )
    sampling = block(
        layer0=convolution(1, first),
        layer1=convolution(first, second),
        input_proj_linear=Linear(first // 4 * second, d),
    )
    return block(
        "other",
        subsample_conv_projection=sampling,
        layers=Repeat(Indices.below(layers), layer),
        output_proj=Linear(d, out, bias=True),
    )
