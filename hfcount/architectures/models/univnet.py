"""UnivNet: a vocoder whose kernels are predicted from the spectrogram (arXiv:2106.07889)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.mapper import Config, Sizes, count, derived
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("univnet",)  # transformers 5.23: modeling_univnet.py


class Residual(Record):
    """A residual block behind each step that lengthens by `stride`: its kernel, and how many dilations it has."""

    kernel: int
    stride: int
    dilations: int


def _residuals(c: Config) -> tuple[Residual, ...]:
    kernels, strides = c.ints("resblock_kernel_sizes"), c.ints("resblock_stride_sizes")
    dilations = c.entries("resblock_dilation_sizes")
    if not kernels or len({len(kernels), len(strides), len(dilations)}) > 1:
        text = f"resblock_kernel_sizes has {len(kernels):,} entries, resblock_stride_sizes {len(strides):,} and"
        text += f" resblock_dilation_sizes {len(dilations):,}."
        raise c.error("list-length", text, "resblock_kernel_sizes", "Correct one of them.")
    residuals = list[Residual]()
    for number, (kernel, stride, dilated) in enumerate(zip(kernels, strides, dilations, strict=True), 1):
        if not isinstance(dilated, list):
            raise c.malformed("resblock_dilation_sizes must hold lists.", "resblock_dilation_sizes")
        sizes = keys.dim(f"w{number}", kernel), keys.dim(f"s{number}", stride)
        residuals.append(Residual(kernel=sizes[0], stride=sizes[1], dilations=len(dilated)))
    return tuple(residuals)


class Univnet(Sizes):
    model_in_channels: int = count("C_i")
    model_hidden_channels: int = count("C")
    num_mel_bins: int = count("b")
    kernel_predictor_num_blocks: int = count("N_k")
    kernel_predictor_hidden_channels: int = count("C_k")
    kernel_predictor_conv_size: int = count("w_k")
    residuals: tuple[Residual, ...] = derived(_residuals)


def spec(c: Config) -> Spec[Univnet]:
    sizes = Univnet.read(c)
    return keys.encoding(c, [], hidden=sizes.model_hidden_channels).having(sizes)


def blueprint(s: Spec[Univnet]) -> Block:
    d, sizes = s.hidden, s.own
    width, kernel = sizes.kernel_predictor_hidden_channels, sizes.kernel_predictor_conv_size
    square, blocks = conv(sizes.model_in_channels, sizes.model_in_channels, kernel), dict[str, Block]()
    residual = Repeat(Indices.below(sizes.kernel_predictor_num_blocks), block(conv1=square, conv2=square))
    for number, shape in enumerate(sizes.residuals):
        predictor = block(
            input_conv=conv(sizes.num_mel_bins, width, 5),
            resblocks=residual,
            kernel_conv=conv(width, 2 * d * d * shape.kernel * shape.dilations, kernel),
            bias_conv=conv(width, 2 * d * shape.dilations, kernel),
        )
        blocks[str(number)] = block(
            convt_pre=upsampling(d, d, 2 * shape.stride),
            kernel_predictor=predictor,
            resblocks=Repeat(Indices.below(shape.dilations), block(conv=conv(d, d, shape.kernel))),
        )
    first, last = conv(sizes.model_in_channels, d, 7), conv(d, 1, 7)
    return block("other", conv_pre=first, resblocks=Block(blocks), conv_post=last)
