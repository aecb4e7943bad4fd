"""Gemma 4's audio tower, a conformer: convolutions over the spectrogram, then layers (arXiv:2303.01037)."""

from hfcount.architectures import keys
from hfcount.architectures.components.gemma import clippable
from hfcount.architectures.layers import rms_norm, stack
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("gemma4_audio",)  # transformers 5.23: modeling_gemma4.py


class Gemma4Audio(Sizes):
    first: int
    second: int
    flat: int
    conv_kernel_size: int = size("w")
    use_clipped_linears: bool = flag(absent=True)


def spec(c: Config) -> Spec[Gemma4Audio]:
    d = c.int("hidden_size")
    channels = c.ints("subsampling_conv_channels", default=(128, 32))
    if len(channels) != 2:
        text = f"subsampling_conv_channels has {len(channels):,} entries, but must have 2."
        raise c.error("list-length", text, "subsampling_conv_channels")
    first, second = channels
    # How wide a frame is behind both convolutions: transformers 5.23, modeling_gemma4.py.
    flat = keys.dim("d_s", first // 4 * second)
    sizes = Gemma4Audio.read(c, first=keys.dim("C_f", first), second=keys.dim("C_s", second), flat=flat)
    return keys.tower(c, ffn=Dense(width=4 * d), out=c.int("output_proj_dims"), indivisible="built").having(sizes)


def blueprint(s: Spec[Gemma4Audio]) -> Block:
    d, clipped, first, second = s.hidden, s.own.use_clipped_linears, s.own.first, s.own.second
    norm = rms_norm(d)

    def layer_block(layer: Layer) -> Block:
        up, down = clippable(d, layer.dense.width, clipped), clippable(layer.dense.width, d, clipped)
        network = block("mlp", ffw_layer_1=up, ffw_layer_2=down, pre_layer_norm=norm, post_layer_norm=norm)
        inner = layer.attention.heads * layer.attention.head_dim
        attention = block(
            "attention",
            **dict.fromkeys(("q_proj", "k_proj", "v_proj"), clippable(d, inner, clipped)),
            post=clippable(d, d, clipped),
            relative_k_proj=Linear(d, inner),
            per_dim_scale=Tensor((layer.attention.head_dim,)),
        )
        return block(
            feed_forward1=network,
            feed_forward2=network,
            self_attn=attention,
            lconv1d=_light_convolution(d, s.own.conv_kernel_size, clipped),
            **dict.fromkeys(("norm_pre_attn", "norm_post_attn", "norm_out"), norm),
        )

    sampling = _subsampling(first, second, Linear(s.own.flat, d))
    layers, out = stack(s.layers, layer_block), Linear(d, s.output, bias=True)
    return block(subsample_conv_projection=sampling, layers=layers, output_proj=out)


def _light_convolution(d: int, kernel: int, clipped: bool) -> Block:
    """A convolution along the sequence between two projections (arXiv:2005.08100).

    Tensors: linear_start (2·d, d), depthwise_conv1d (d, 1, kernel), linear_end (d, d), two norms (d).
    """
    return block(
        linear_start=clippable(d, 2 * d, clipped),
        linear_end=clippable(d, d, clipped),
        depthwise_conv1d=block(weight=Tensor((d, 1, kernel))),
        pre_layer_norm=rms_norm(d),
        conv_norm=rms_norm(d),
    )


def _subsampling(first: int, second: int, projection: Linear) -> Block:
    """Two convolutions over the spectrogram, of `first` and `second` channels, and a projection of what they leave.

    Tensors: layer0.conv (first, 1, 3, 3), layer1.conv (second, first, 3, 3), each with a norm; input_proj_linear.
    """

    def convolution(inputs: int, outputs: int) -> Block:
        return block(conv=block(weight=Tensor((outputs, inputs, 3, 3))), norm=layer_norm(outputs, bias=False))

    layers = {"layer0": convolution(1, first), "layer1": convolution(first, second)}
    return block("embedding", **layers, input_proj_linear=projection)
