"""PP-LCNet, version 4: networks that double the channels, after one of two stems (PaddleOCR, PP-OCRv6)."""

from typing import Any

from hfcount.architectures import keys
from hfcount.architectures.components.lcnet import Blocks, Spelled, squeezing, stem
from hfcount.architectures.layers.convolution import conv, normed
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("pp_lcnet_v4",)  # transformers 5.23: modeling_pp_lcnet_v4.py
IGNORED = ("out_indices", "depths", "stem_strides", "num_channels", "stage_out_channels")

_HEADS = keys.named(Backbone="backbone", Encoder="encoder")
_MIDDLE, _MIDDLE_SQUEEZED = [3, 192, 192, 1, False], [3, 192, 192, 1, True]
_USUAL: list[Any] = [
    [[3, 96, 96, 1, True]],
    [[3, 96, 96, 1, False], [3, 96, 96, 1, False]],
    [[3, 96, 192, [2, 1], False], *[_MIDDLE_SQUEEZED, _MIDDLE] * 3],
    [[3, 192, 384, [2, 1], False], [3, 384, 384, 1, True], [3, 384, 384, 1, False]],
]


class PpLcnetV4(Sizes):
    """Sizes of PP-LCNet version 4; `stem` are the channels of its stem, which is a `large` one or a small one."""

    blocks: Blocks
    stem: tuple[int, int, int]
    large: bool
    reduction: int = size("r")
    affine: bool = flag("use_learnable_affine_block", absent=False)


def spec(c: Config) -> Spec[PpLcnetV4]:
    blocks, kind = Blocks.read(c, _USUAL, scaled=False), c.choice("stem_type", ("large", "small"), "large")
    first, middle, last = keys.each(c, "stem_channels", 3, "s")
    sizes = PpLcnetV4.read(c, blocks=blocks, stem=(first, middle, last), large=kind == "large")
    return keys.imaging(c, (), _HEADS, hidden=blocks.outputs, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[PpLcnetV4]) -> Block:
    of = s.own

    def doubling(spelled: Spelled) -> Block:
        side, inputs, outputs = spelled.side, spelled.inputs, spelled.outputs
        wide, same = 2 * inputs, spelled.plain and inputs == outputs
        alone = conv(inputs, outputs, side, groups=inputs, bias=True) if same else None
        return block(
            token_conv=alone or normed(inputs, inputs, side, groups=inputs),
            token_squeeze_excitation=squeezing(inputs, of.reduction) if spelled.squeezed else None,
            channel_conv1=normed(inputs, wide, 1),
            channel_conv2=normed(wide, outputs, 1),
        )

    first, middle, last = of.stem
    small = block(conv1=normed(first, middle, 3), conv2=normed(middle, last, 3))
    blocks = {number: block(blocks=blocks) for number, blocks in of.blocks.tensors(doubling).items()}
    start = stem(first, middle, last, of.affine) if of.large else small
    encoder = block(convolution=start, blocks=Block(blocks))
    return encoder if s.head == "encoder" else block(encoder=encoder)
