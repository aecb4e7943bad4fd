"""UnivNet: a vocoder whose kernels are predicted from the spectrogram (arXiv:2106.07889)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts.temporal import conv, upsampling
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("univnet",)  # transformers 5.23: modeling_univnet.py

_SIZES = {
    "model_in_channels": "C_i",
    "model_hidden_channels": "C",
    "num_mel_bins": "b",
    "kernel_predictor_num_blocks": "N_k",
    "kernel_predictor_hidden_channels": "C_k",
    "kernel_predictor_conv_size": "w_k",
}


def spec(c: Config) -> Spec:
    found: dict[str, int] = {key: keys.sized(letter, c.int(key, maximum=MAX_LAYERS)) for key, letter in _SIZES.items()}
    kernels, strides = c.ints("resblock_kernel_sizes"), c.ints("resblock_stride_sizes")
    dilations = c.entries("resblock_dilation_sizes")
    if not kernels or len({len(kernels), len(strides), len(dilations)}) > 1:
        said = f"resblock_kernel_sizes has {len(kernels):,} entries, resblock_stride_sizes {len(strides):,} and"
        said += f" resblock_dilation_sizes {len(dilations):,}."
        raise c.error(said, "resblock_kernel_sizes", "Correct one of them.")
    for number, (kernel, stride, dilated) in enumerate(zip(kernels, strides, dilations, strict=True)):
        if not isinstance(dilated, list):
            raise c.error("resblock_dilation_sizes must hold lists.", "resblock_dilation_sizes", code="HF001")
        found[f"kernel.{number}"] = keys.sized(f"w{number + 1}", kernel)
        found[f"stride.{number}"] = keys.sized(f"s{number + 1}", stride)
        found[f"dilations.{number}"] = len(dilated)
    found["blocks"] = len(kernels)
    return keys.encoding(c, [], hidden=found["model_hidden_channels"], traits=found)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    width, kernel = of["kernel_predictor_hidden_channels"], of["kernel_predictor_conv_size"]
    square, blocks = conv(of["model_in_channels"], of["model_in_channels"], kernel), dict[str, Block]()
    residual = Repeat(Indices.below(of["kernel_predictor_num_blocks"]), block(conv1=square, conv2=square))
    for number in range(of["blocks"]):
        own, stride, count = of[f"kernel.{number}"], of[f"stride.{number}"], of[f"dilations.{number}"]
        predictor = block(
            input_conv=conv(of["num_mel_bins"], width, 5),
            resblocks=residual,
            kernel_conv=conv(width, 2 * d * d * own * count, kernel),
            bias_conv=conv(width, 2 * d * count, kernel),
        )
        blocks[str(number)] = block(
            convt_pre=upsampling(d, d, 2 * stride),
            kernel_predictor=predictor,
            resblocks=Repeat(Indices.below(count), block(conv=conv(d, d, own))),
        )
    first, last = conv(of["model_in_channels"], d, 7), conv(d, 1, 7)
    return block("other", conv_pre=first, resblocks=Block(blocks), conv_post=last)
