"""BigVGAN of Qwen2.5-Omni: each step lengthens a spectrogram and halves its channels (arXiv:2206.04658)."""

from itertools import product

from hfcount import keys
from hfcount.components.vocoders import halved, snake
from hfcount.mapper import Config
from hfcount.parts.temporal import conv, upsampling
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("qwen2_5_omni_bigvgan",)  # transformers 5.23: modeling_qwen2_5_omni.py
IGNORED = ("resblock_dilation_sizes",)


def spec(c: Config) -> Spec:
    rates, strides = c.ints("upsample_kernel_sizes"), c.ints("upsample_rates")
    dilations = c.length("resblock_dilation_sizes")
    kernels = c.ints("resblock_kernel_sizes")[:dilations]
    traits = {"mel_dim": keys.sized("b", c.int("mel_dim")), "steps": len(strides), "blocks": len(kernels)}
    rates = rates[: len(strides)]
    traits["ups"] = len(rates)
    for number, width in enumerate(rates):
        traits[f"up.{number}"] = keys.sized(f"w{number + 1}", width)
    for number, width in enumerate(kernels):
        traits[f"block.{number}"] = keys.sized(f"w_r{number + 1}", width)
    return keys.encoding(c, (), hidden=c.int("upsample_initial_channel"), traits=traits)


def blueprint(s: Spec) -> Block:
    of, d, three = s.traits, s.hidden, Indices.below(3)
    last = halved(d, of["steps"])
    ups, blocks = dict[str, Node](), dict[str, Node]()
    for step in range(of["ups"]):
        ups[str(step)] = Block({"0": upsampling(halved(d, step), halved(d, step + 1), of[f"up.{step}"])})
    for number, (step, kind) in enumerate(product(range(of["steps"]), range(of["blocks"]))):
        width = halved(d, step + 1)
        same = Repeat(three, conv(width, width, of[f"block.{kind}"]))
        activations = Repeat(Indices.below(2 * 3), block(act=snake(width)))
        blocks[str(number)] = block(convs1=same, convs2=same, activations=activations)
    return block(
        "audio",
        conv_pre=conv(of["mel_dim"], d, 7),
        ups=Block(ups),
        resblocks=Block(blocks),
        activation_post=block(act=snake(last)),
        conv_post=conv(last, 1, 7, bias=False),
    )
