"""UPerNet: segments from all levels of a backbone, the coarsest pooled at several scales (arXiv:1807.10221)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.convolution import batch_norm, conv
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("upernet",)  # transformers 5.23: modeling_upernet.py
IGNORED = ("loss_ignore_index",)

_HEADS = keys.named(ForSemanticSegmentation="semantic_segmentation")
_AUXILIARY = 2  # the level that the auxiliary head reads


class Auxiliary(Sizes):
    """The auxiliary head, over features of so many `inputs`."""

    inputs: int
    channels: int = size("d_a", "auxiliary_channels")
    convs: int = count("N_a", "auxiliary_num_convs", minimum=0)
    joined: bool = flag("auxiliary_concat_input", absent=False)


class UperNet(Sizes):
    """Sizes specific to UPerNet; `widths` are those of the backbone's features."""

    widths: tuple[int, ...]
    has_auxiliary: bool
    auxiliary: Auxiliary
    scales: int = derived(lambda c: len(c.ints("pool_scales", default=(1, 2, 3, 6))))


def spec(c: Config) -> Spec[UperNet]:
    backbone = families.backbone(c)
    widths = channels(chosen(c.part("backbone_config")), backbone)
    auxiliary = c.bool("use_auxiliary_head", default=True)
    width = c.int("auxiliary_in_channels", default=None)
    if auxiliary and width is None:
        if len(widths) <= _AUXILIARY:
            raise c.error(
                "contradiction",
                f"the backbone gives {len(widths):,} levels, and the auxiliary head reads the third.",
                "backbone_config",
            )
        width = widths[_AUXILIARY]
    sizes = UperNet.read(
        c, widths=tuple(widths), has_auxiliary=auxiliary, auxiliary=Auxiliary.read(c, inputs=width or 0)
    )
    d = c.int("hidden_size")
    model = keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS)
    return model.replace(causal=False).having(sizes).replace(parts={"backbone": backbone})


def _step(inputs: int, outputs: int, side: int) -> Block:
    return block(conv=conv(inputs, outputs, side), batch_norm=batch_norm(outputs))


def blueprint(s: Spec[UperNet]) -> Block:
    d, sizes, scales, widths = s.hidden, s.own, s.own.scales, s.own.widths
    finer = range(len(widths) - 1)
    pooled = {str(scale): Block({"1": _step(widths[-1], d, 1)}) for scale in range(scales)}
    head = block(
        "other",
        classifier=conv(d, s.labels, 1, bias=True),
        psp_modules=Block(pooled),
        bottleneck=_step(widths[-1] + scales * d, d, 3),
        lateral_convs=Block({str(place): _step(widths[place], d, 1) for place in finer}),
        fpn_convs=Block({str(place): _step(d, d, 3) for place in finer}),
        fpn_bottleneck=_step(len(widths) * d, d, 3),
    )
    backbone = families.tree(s.part("backbone"))
    further = _auxiliary(sizes.auxiliary, s.labels) if sizes.has_auxiliary else None
    return block(backbone=backbone, decode_head=head, auxiliary_head=further)


def _auxiliary(of: Auxiliary, labels: int) -> Block:
    into, narrow, steps = of.inputs, of.channels, of.convs
    first = Repeat(Indices.below(1), _step(into, narrow, 3))
    rest = Repeat(Indices(range(1, max(1, int(steps))), steps - 1), _step(narrow, narrow, 3))
    return block(
        "other",
        convs=None if not steps else (first, rest) if steps > 1 else first,
        conv_cat=_step(into + narrow, narrow, 3) if of.joined else None,
        classifier=conv(narrow, labels, 1, bias=True),
    )
