"""PP-LCNet, versions 1 and 3: convolutions of each channel alone, then of all at each place (arXiv:2109.15099)."""

from hfcount.architectures import keys
from hfcount.architectures.components.lcnet import Blocks, Spelled, squeezing
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.convolution import batch_norm, conv, normed
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import stated
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, Tensor, block

MODEL_TYPES = ("pp_lcnet", "pp_lcnet_v3")  # transformers 5.23: modeling_pp_lcnet.py, modeling_pp_lcnet_v3.py
IGNORED = ("out_indices", "depths", "stem_stride")

_HEADS = {
    "pp_lcnet": keys.named(("ForImageClassification",), Backbone="backbone", Encoder="encoder"),
    "pp_lcnet_v3": keys.named(Backbone="backbone", Encoder="encoder"),
}
_COLOURS = 3
_START = [
    [[3, 16, 32, 1, False]],
    [[3, 32, 64, 2, False], [3, 64, 64, 1, False]],
    [[3, 64, 128, 2, False], [3, 128, 128, 1, False]],
]
_SAME, _SQUEEZED = [5, 256, 256, 1, False], [[5, 256, 512, 2, True], [5, 512, 512, 1, True]]
_USUAL = {
    "pp_lcnet": [*_START, [[3, 128, 256, 2, False], *[_SAME] * 5], _SQUEEZED],
    "pp_lcnet_v3": [*_START, [[3, 128, 256, 2, False], *[_SAME] * 4], [*_SQUEEZED, *[[5, 512, 512, 1, False]] * 2]],
}


class PpLcnet(Sizes):
    """Sizes of PP-LCNet; `branches` are those of version 3, `class_expand` the head's channels of version 1."""

    blocks: Blocks
    stem: int
    reduction: int = size("r")
    branches: int | None = derived(
        lambda c: keys.dim("n_b", c.int("conv_symmetric_num", minimum=0)) if c.family == "pp_lcnet_v3" else None
    )
    class_expand: int | None = derived(
        lambda c: None if c.family == "pp_lcnet_v3" else keys.dim("d_c", c.int("class_expand"))
    )


def spec(c: Config) -> Spec[PpLcnet]:
    blocks = Blocks.read(c, _USUAL[c.family])
    first, step = c.int("stem_channels"), c.int("divisor", default=8)
    stem = keys.rounded(first * c.number("scale", default=1), step)
    source = f"{stated(first)}{' · {scale}' if c.given('scale') else ''}, {keys.channels(step)}"
    sizes = PpLcnet.read(c, blocks=blocks, stem=keys.derived_dim(c, "C0", stem, source))
    return keys.imaging(c, (), _HEADS[c.family], hidden=blocks.outputs, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[PpLcnet]) -> Block:
    of, third = s.own, s.family == "pp_lcnet_v3"
    affine = block("convolution", scale=Tensor((1,)), bias=Tensor((1,)))

    def layer(inputs: int, outputs: int, side: int, groups: int, plain: bool) -> Block:
        conv = normed(inputs, outputs, side, groups=groups)
        if not third:
            return conv
        return block(  # branches that are one convolution once they are trained
            identity=batch_norm(inputs) if plain and inputs == outputs else None,
            conv_symmetric=Repeat(Indices.below(of.branches), conv) if of.branches else None,
            conv_small_symmetric=normed(inputs, outputs, 1, groups=groups) if side > 1 else None,
            lab=affine,
            act=block(lab=affine),
        )

    def separable(spelled: Spelled) -> Block:
        return block(
            depthwise_convolution=layer(spelled.inputs, spelled.inputs, spelled.side, spelled.inputs, spelled.plain),
            squeeze_excitation_module=squeezing(spelled.inputs, of.reduction) if spelled.squeezed else None,
            pointwise_convolution=layer(spelled.inputs, spelled.outputs, 1, 1, True),
        )

    blocks = {number: block(layers=layers) for number, layers in of.blocks.tensors(separable).items()}
    encoder = block(convolution=normed(_COLOURS, of.stem, 3), blocks=Block(blocks))
    if s.head == "encoder":
        return encoder
    body = block(encoder=encoder)
    wide = of.class_expand
    if s.head != "image_classification" or wide is None:
        return body
    return Block({**body.children, "last_convolution": conv(s.hidden, wide, 1), "head": classifier(s, wide)})
