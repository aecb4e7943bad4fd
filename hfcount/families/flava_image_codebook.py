"""FLAVA's codebook: DALL-E's convolutional encoder, which gives patches of an image codes (arXiv:2112.04482)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.convolution import conv
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("flava_image_codebook",)  # transformers 5.23: modeling_flava.py
IGNORED = ("num_groups", "freeze")

_MOST = 1000  # blocks of a group, whose names no fold can count


class FlavaImageCodebook(Sizes):
    """What this architecture alone has."""

    input_channels: int = size("C")
    vocab_size: int = size("|V|")
    num_blocks_per_group: int


def spec(c: Config) -> Spec[FlavaImageCodebook]:
    own = FlavaImageCodebook.read(c, num_blocks_per_group=c.int("num_blocks_per_group", maximum=_MOST))
    return keys.encoding(c, (), {"Codebook": "base"}, hidden=c.int("hidden_size")).having(own)


def blueprint(s: Spec[FlavaImageCodebook]) -> Block:
    d, of = s.hidden, s.own

    def one(inputs: int, outputs: int) -> Block:
        narrow = outputs // 4
        inner = conv(narrow, narrow, 3, bias=True)
        first, last = conv(inputs, narrow, 3, bias=True), conv(narrow, outputs, 1, bias=True)
        path = block(conv_1=first, conv_2=inner, conv_3=inner, conv_4=last)
        around = None if inputs is outputs else conv(inputs, outputs, 1, bias=True)
        return block(id_path=around, res_path=block(path=path))

    # Each group is twice as wide as the one before, but for the first.
    groups, before = dict[str, Block](), d
    for number, width in enumerate((d, 2 * d, 4 * d, 8 * d), 1):
        count = int(of.num_blocks_per_group)
        rest = {f"block_{place}": one(width, width) for place in range(2, count + 1)}
        groups[f"group_{number}"] = block(group=Block({"block_1": one(before, width), **rest}))
        before = width
    code = block(conv=conv(before, of.vocab_size, 1, bias=True))
    return block(blocks=Block({"input": conv(of.input_channels, d, 7, bias=True), **groups, "output": code}))
