"""PP-LCNet, versions 1 and 3: convolutions of each channel alone, then of all at each place (arXiv:2109.15099)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.classic import classifier
from hfcount.parts.convolution import batch_norm, conv, normed
from hfcount.parts.lcnet import places, squeezing
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, Tensor, block

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


def spec(c: Config) -> Spec:
    traits, third = keys.spelled_out(c, _USUAL[c.family]), c.family == "pp_lcnet_v3"
    stem = keys.rounded(c.int("stem_channels") * c.number("scale", default=1), c.int("divisor", default=8))
    last = traits["stages"] - 1
    traits |= {
        "stem": keys.worked(c, "C0", stem, "{stem_channels} · {scale}, rounded"),
        "reduction": keys.sized("r", c.int("reduction")),
        "branches": keys.sized("n_b", c.int("conv_symmetric_num", minimum=0)) if third else 0,
        "class_expand": 0 if third else keys.sized("d_c", c.int("class_expand")),
    }
    d = traits[f"out.{last}.{traits[f'depth.{last}'] - 1}"]
    return keys.imaging(c, (), _HEADS[c.family], hidden=d, traits=traits, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    of, third = s.traits, s.family == "pp_lcnet_v3"
    affine = block("convolution", scale=Tensor((1,)), bias=Tensor((1,)))

    def layer(inputs: int, outputs: int, side: int, groups: int, plain: bool) -> Block:
        one = normed(inputs, outputs, side, groups=groups)
        if not third:
            return one
        return block(  # branches that are one convolution once they are trained
            identity=batch_norm(inputs) if plain and inputs == outputs else None,
            conv_symmetric=Repeat(Indices.below(of["branches"]), one) if of["branches"] else None,
            conv_small_symmetric=normed(inputs, outputs, 1, groups=groups) if side > 1 else None,
            lab=affine,
            act=block(lab=affine),
        )

    def one(side: int, inputs: int, outputs: int, plain: int, squeezed: int) -> Block:
        return block(
            depthwise_convolution=layer(inputs, inputs, side, inputs, bool(plain)),
            squeeze_excitation_module=squeezing(inputs, of["reduction"]) if squeezed else None,
            pointwise_convolution=layer(inputs, outputs, 1, 1, True),
        )

    blocks = {number: block(layers=layers) for number, layers in places(of, one).items()}
    encoder = block(convolution=normed(_COLOURS, of["stem"], 3), blocks=Block(blocks))
    if s.head == "encoder":
        return encoder
    body = block(encoder=encoder)
    if s.head != "image_classification":
        return body
    wide = of["class_expand"]
    return Block({**body.children, "last_convolution": conv(s.hidden, wide, 1), "head": classifier(s, wide)})
