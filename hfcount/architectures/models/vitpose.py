"""ViTPose: a backbone and a small decoder of heat maps, one for each joint (arXiv:2204.12484)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.convolution import batch_norm, conv, transposed
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("vitpose",)  # transformers 5.23: modeling_vitpose.py
IGNORED = ("scale_factor",)

_HEADS = keys.named(ForPoseEstimation="pose_estimation")
_WIDTH = 256  # of the decoder that is not simple


class Vitpose(Sizes):
    simple: bool = flag("use_simple_decoder", absent=True)


def spec(c: Config) -> Spec[Vitpose]:
    backbone = families.backbone(c)
    sizes = Vitpose.read(c)
    d = keys.dim("d", backbone.hidden)
    return (
        keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts={"backbone": backbone})
        .replace(causal=False)
        .having(sizes)
    )


def blueprint(s: Spec[Vitpose]) -> Block:
    d = s.hidden
    larger = block(
        "other",
        deconv1=transposed(d, _WIDTH, 4, bias=False),
        batchnorm1=batch_norm(_WIDTH),
        deconv2=transposed(_WIDTH, _WIDTH, 4, bias=False),
        batchnorm2=batch_norm(_WIDTH),
        conv=conv(_WIDTH, s.labels, 1, bias=True),
    )
    simple = block("other", conv=conv(d, s.labels, 3, bias=True))
    return block(backbone=families.tree(s.part("backbone")), head=simple if s.own.simple else larger)
