"""FastConformer: convolutions that shorten a spectrogram, before a conformer's layers (arXiv:2305.05084)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.conformer import nemo_convolution, nemo_layer
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# transformers 5.23: modeling_parakeet.py, modeling_nemotron_asr_streaming.py
MODEL_TYPES = ("parakeet_encoder", "nemotron_asr_streaming_encoder")
IGNORED = ("scale_input", "default_num_lookahead_tokens")


class ParakeetEncoder(Sizes):
    shortened: int
    left: int
    subsampling_conv_channels: int = size("C")
    subsampling_conv_kernel_size: int = size("w_s")
    conv_kernel_size: int = size("w")
    convolution_bias: bool = flag()


def spec(c: Config) -> Spec[ParakeetEncoder]:
    d, heads, bias = c.int("hidden_size"), c.int("num_attention_heads"), c.bool("attention_bias")
    alone = keys.multi_head(c, d, heads, bias=bias, indivisible="run", own_width=True)
    mixer = alone.replace(kv_heads=c.int("num_key_value_heads", default=heads))
    stride, bins = c.int("subsampling_conv_stride"), c.int("num_mel_bins")
    factor, left = c.int("subsampling_factor"), bins
    times = keys.derived_dim(c, "N_s", factor.bit_length() - 1, "{subsampling_factor}, as a power of 2")
    for _ in range(times):
        left = (left + stride - 2) // stride + 1 if c.family.startswith("nemotron") else left // stride
    if left < 1:
        raise c.error(
            "not-divisible", f"num_mel_bins {bins:,} is too small to be shortened {times:,} times.", "num_mel_bins"
        )
    sizes = ParakeetEncoder.read(c, shortened=times, left=keys.dim("b_s", left))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=bias))
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d).having(sizes)


def blueprint(s: Spec[ParakeetEncoder]) -> Block:
    d, of, streaming = s.hidden, s.own, s.family.startswith("nemotron")
    norm = layer_norm(d) if streaming else batch_norm(d)
    convolution = nemo_convolution(d, of.conv_kernel_size, norm, of.convolution_bias)
    layers = stack(s.layers, lambda layer: nemo_layer(d, layer, _nemo_attention(d, layer.attention), convolution))
    return block(subsampling=_streamed(s) if streaming else _numbered(s), layers=layers)


def _numbered(s: Spec[ParakeetEncoder]) -> Block:
    first, each, point = _convolutions(s)
    steps: dict[str, Node] = {"0": first}
    for number in range(2, 3 * s.own.shortened - 1, 3):
        steps |= {str(number): each, str(number + 1): point}
    return block("embedding", layers=Block(steps), linear=_flat(s))


def _streamed(s: Spec[ParakeetEncoder]) -> Block:
    first, each, point = _convolutions(s)
    times = s.own.shortened
    further = Indices.below(times - 1 if times > 1 else 0)
    layers = Repeat(further, block(depthwise_conv=each, pointwise_conv=point))
    return block("embedding", conv_in=first, layers=layers, linear=_flat(s))


def _convolutions(s: Spec[ParakeetEncoder]) -> tuple[Block, Block, Block]:
    channels, kernel = s.own.subsampling_conv_channels, s.own.subsampling_conv_kernel_size
    point = conv(channels, channels, 1, bias=True)
    return conv(1, channels, kernel, bias=True), depthwise(channels, kernel, bias=True), point


def _flat(s: Spec[ParakeetEncoder]) -> Linear:
    return Linear(s.own.subsampling_conv_channels * s.own.left, s.hidden, True)


def _nemo_attention(d: int, a: GQA) -> Block:
    """Attention with positions as in Transformer-XL (arXiv:1901.02860).

    Tensors: q_proj, k_proj, v_proj, o_proj; relative_k_proj (h·h_d, d), bias_u and bias_v (h, h_d).
    """
    sizes = Tensor((a.heads, a.head_dim))
    return altered(mha(d, a, "o_proj"), relative_k_proj=Linear(d, a.heads * a.head_dim), bias_u=sizes, bias_v=sizes)
