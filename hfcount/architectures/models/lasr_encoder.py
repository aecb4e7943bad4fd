"""LASR's encoder: a conformer with rotary positions and without biases (https://huggingface.co/google/medasr)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.conformer import nemo_convolution, nemo_layer
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lasr_encoder",)  # transformers 5.23: modeling_lasr.py
IGNORED = ("subsampling_conv_stride", "feed_forward_residual_weights", "conv_residual_weights")


class LasrEncoder(Sizes):
    num_mel_bins: int = size("b")
    subsampling_conv_channels: int = size("C")
    subsampling_conv_kernel_size: int = size("w_s")
    conv_kernel_size: int = size("w")
    convolution_bias: bool = flag()


def spec(c: Config) -> Spec[LasrEncoder]:
    d, heads, bias = c.int("hidden_size"), c.int("num_attention_heads"), c.bool("attention_bias")
    alone = keys.multi_head(c, d, heads, bias=bias, indivisible="run", own_width=True)
    mixer = alone.replace(kv_heads=c.int("num_key_value_heads", default=heads))
    sizes = LasrEncoder.read(c)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=bias))
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d).having(sizes)


def blueprint(s: Spec[LasrEncoder]) -> Block:
    d, of, channels = s.hidden, s.own, s.own.subsampling_conv_channels
    convolution = nemo_convolution(d, of.conv_kernel_size, batch_norm(d), of.convolution_bias)
    sampler = block(
        "embedding",
        dense_0=Linear(of.num_mel_bins, d, True),
        conv_0=conv(d, d, of.subsampling_conv_kernel_size),
        conv_1=conv(d, channels, of.subsampling_conv_kernel_size),
        dense_1=Linear(channels, d, True),
    )
    layers = stack(
        s.layers, lambda layer: nemo_layer(d, layer, mha(d, layer.attention, "o_proj"), convolution, bias=False)
    )
    return block(subsampler=sampler, layers=layers, out_norm=layer_norm(d, bias=False))
