"""BigVGAN of Qwen2.5-Omni: each step lengthens a spectrogram and halves its channels (arXiv:2206.04658)."""

from itertools import product

from hfcount import keys
from hfcount.components.vocoders import halved, snake
from hfcount.mapper import Config
from hfcount.parts.temporal import conv, upsampling
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("qwen2_5_omni_bigvgan",)  # transformers 5.23: modeling_qwen2_5_omni.py
IGNORED = ("resblock_dilation_sizes",)


class BigVGAN(Sizes):
    """What BigVGAN alone has: so many `steps`, by transposed convolutions of these kernels, and blocks after each."""

    ups: tuple[int, ...]
    steps: int
    blocks: tuple[int, ...]
    mel_dim: int = size("b")


def spec(c: Config) -> Spec[BigVGAN]:
    widths, strides = c.ints("upsample_kernel_sizes"), c.ints("upsample_rates")
    dilations = c.length("resblock_dilation_sizes")
    kernels = c.ints("resblock_kernel_sizes")[:dilations]
    own = BigVGAN.read(
        c,
        ups=tuple(keys.dim(f"w{number}", width) for number, width in enumerate(widths[: len(strides)], 1)),
        steps=len(strides),
        blocks=tuple(keys.dim(f"w_r{number}", width) for number, width in enumerate(kernels, 1)),
    )
    return keys.encoding(c, (), hidden=c.int("upsample_initial_channel")).having(own)


def blueprint(s: Spec[BigVGAN]) -> Block:
    of, d, three = s.own, s.hidden, Indices.below(3)
    last = halved(d, of.steps)
    ups, blocks = dict[str, Node](), dict[str, Node]()
    for step, kernel in enumerate(of.ups):
        ups[str(step)] = Block({"0": upsampling(halved(d, step), halved(d, step + 1), kernel)})
    for number, (step, kernel) in enumerate(product(range(of.steps), of.blocks)):
        width = halved(d, step + 1)
        same = Repeat(three, conv(width, width, kernel))
        activations = Repeat(Indices.below(2 * 3), block(act=snake(width)))
        blocks[str(number)] = block(convs1=same, convs2=same, activations=activations)
    return block(
        "audio",
        conv_pre=conv(of.mel_dim, d, 7),
        ups=Block(ups),
        resblocks=Block(blocks),
        activation_post=block(act=snake(last)),
        conv_post=conv(last, 1, 7, bias=False),
    )
