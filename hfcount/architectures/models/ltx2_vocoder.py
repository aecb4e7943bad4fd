"""The vocoder of LTX-2, which makes sound of a spectrogram, and the one with a second that widens its band."""

from hfcount.architectures import keys
from hfcount.architectures.components.vocoders import halved, snake
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import numbered
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block, buffer

MODEL_TYPES = ("LTX2Vocoder", "LTX2VocoderWithBWE")  # diffusers 0.42.1: vocoder.py

_ACTIVATIONS = ("snakebeta", "snake", "leaky_relu")


class Resnet(Record):
    """Convolutions behind each step up: their kernel, and how many pairs of them there are."""

    kernel: int
    pairs: int


class Vocoder(Record):
    """A vocoder: `steps` are the kernels of what makes the sound longer, `filters` those of what smoothes it."""

    inputs: int
    width: int
    outputs: int
    steps: tuple[int, ...]
    resnets: tuple[Resnet, ...]
    activation: str
    smoothed: bool
    taps: int
    bias: bool


class Spectrogram(Record):
    """What the second vocoder sees: the length of a window, and its bands."""

    window: int
    bands: int


class Vocoders(Sizes):
    """The vocoder and, if the band is widened, the second and what it sees."""

    first: Vocoder
    second: tuple[Vocoder, Spectrogram] | None


def spec(c: Config) -> Spec[Vocoders]:
    second = None
    if c.family == "LTX2VocoderWithBWE":
        window, bands = keys.dim("n_w", c.int("filter_length")), keys.dim("n_m", c.int("num_mel_channels"))
        if c.int("output_sampling_rate") < c.int("input_sampling_rate"):
            text = "output_sampling_rate is below input_sampling_rate: the sound would have no places."
            c.cannot_run("out-of-range", text, "output_sampling_rate", "Correct one of them.")
        second = (_vocoder(c, "bwe_"), Spectrogram(window=window, bands=bands))
    sizes = Vocoders.read(c, first=_vocoder(c, ""), second=second)
    return diffusion.diffusing(c, sizes, sizes.first.width)


def _vocoder(c: Config, prefix: str) -> Vocoder:
    letter = prefix[:1]
    steps, factors = (c.ints(f"{prefix}upsample_{name}", minimum=1) for name in ("kernel_sizes", "factors"))
    kernels, dilations = c.ints(f"{prefix}resnet_kernel_sizes", minimum=1), c.entries(f"{prefix}resnet_dilations")
    if len(steps) != len(factors) or not steps:
        text = f"{prefix}upsample_kernel_sizes and {prefix}upsample_factors must be of one length, above 0."
        raise c.error("list-length", text, f"{prefix}upsample_factors", "Correct one of them.")
    if len(kernels) != len(dilations):
        raise c.unequal(
            f"{prefix}resnet_dilations", len(dilations), f"the number of {prefix}resnet_kernel_sizes", len(kernels)
        )
    activation, smoothed = c.choice(f"{prefix}act_fn", _ACTIVATIONS), c.bool(f"{prefix}antialias")
    if activation == "leaky_relu" and smoothed:
        text = f"{prefix}antialias with {prefix}act_fn leaky_relu nests filters in each other, and is not described."
        raise UnknownArchitecture(f"{c.where}: {text}")
    sizes = {
        name: keys.dim(f"{letter}{symbol}", c.int(f"{prefix}{key}"))
        for name, key, symbol in (
            ("inputs", "in_channels", "C"),
            ("width", "hidden_channels", "d"),
            ("outputs", "out_channels", "C_o"),
            ("taps", "antialias_kernel_size", "n_f"),
        )
    }
    return Vocoder(
        **sizes,
        steps=tuple(keys.dim(f"{letter}u{place}", kernel) for place, kernel in enumerate(steps, 1)),
        resnets=tuple(
            Resnet(kernel=keys.dim(f"{letter}k{place}", kernel), pairs=len(pairs))
            for place, (kernel, pairs) in enumerate(zip(kernels, dilations, strict=True), 1)
        ),
        activation=activation,
        smoothed=smoothed,
        bias=c.bool(f"{prefix}final_bias"),
    )


def blueprint(s: Spec[Vocoders]) -> Block:
    first, second = _tensors(s.own.first), s.own.second
    if second is None:
        return first
    vocoder, spectrum = second
    waves = spectrum.window // 2 + 1
    basis = buffer(2 * waves, 1, spectrum.window)
    spectrogram = block(
        "audio",
        stft_fn=block(forward_basis=basis, inverse_basis=basis),
        mel_basis=buffer(spectrum.bands, waves),
    )
    return block(vocoder=first, bwe_generator=_tensors(vocoder), mel_stft=spectrogram)


def _tensors(of: Vocoder) -> Block:
    upsamplers, resnets, before = list[Node](), list[Node](), of.width
    for place, kernel in enumerate(of.steps, 1):
        width = halved(of.width, place)
        upsamplers.append(upsampling(before, width, kernel))
        resnets += [_resnet(of, width, resnet) for resnet in of.resnets]
        before = width
    return block(
        "audio",
        conv_in=conv(of.inputs, of.width, 7),
        upsamplers=numbered(upsamplers),
        resnets=numbered(resnets),
        act_out=None if of.activation == "leaky_relu" else _smoothed(of, snake(before)),
        conv_out=conv(before, of.outputs, 7, of.bias),
    )


def _resnet(of: Vocoder, width: int, resnet: Resnet) -> Block:
    each, convolution = Indices.below(resnet.pairs), conv(width, width, resnet.kernel)
    periodic = snake(width) if of.activation == "snakebeta" else block(alpha=Tensor((width,)))
    active = None if of.activation == "leaky_relu" else _smoothed(of, periodic) if of.smoothed else periodic
    acts = None if active is None else Repeat(each, active)
    return block(convs1=Repeat(each, convolution), acts1=acts, convs2=Repeat(each, convolution), acts2=acts)


def _smoothed(of: Vocoder, active: Block) -> Block:
    """An activation between filters, at more places than there are."""
    taps = block(filter=buffer(1, 1, of.taps))
    return block(upsample=taps, act=active, downsample=taps)
