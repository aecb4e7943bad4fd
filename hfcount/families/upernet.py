"""UPerNet: segments from all levels of a backbone, the coarsest pooled at several scales (arXiv:1807.10221)."""

from hfcount import families, keys
from hfcount.keys.detection import channels, chosen
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts.convolution import batch_norm, conv
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("upernet",)  # transformers 5.23: modeling_upernet.py
IGNORED = ("loss_ignore_index",)

_HEADS = keys.named(ForSemanticSegmentation="semantic_segmentation")
_AUXILIARY = 2  # the level that the auxiliary head reads


def spec(c: Config) -> Spec:
    backbone = families.backbone(c)
    widths = channels(chosen(c.part("backbone_config")), backbone)
    auxiliary = c.bool("use_auxiliary_head", default=True)
    seen = c.int("auxiliary_in_channels", default=None)
    if auxiliary and seen is None:
        if len(widths) <= _AUXILIARY:
            raise c.error(
                f"the backbone gives {len(widths):,} levels, and the auxiliary head reads the third.", "backbone_config"
            )
        seen = widths[_AUXILIARY]
    traits: dict[str, int] = {
        "scales": len(c.ints("pool_scales", default=(1, 2, 3, 6))),
        "auxiliary": auxiliary,
        "auxiliary_in_channels": seen or 0,
        "auxiliary_channels": keys.sized("d_a", c.int("auxiliary_channels")),
        "auxiliary_num_convs": keys.sized("N_a", c.int("auxiliary_num_convs", minimum=0, maximum=MAX_LAYERS)),
        "auxiliary_concat_input": c.bool("auxiliary_concat_input", default=False),
        "levels": len(widths),
        **{f"level.{place}": width for place, width in enumerate(widths)},
    }
    d, parts = c.int("hidden_size"), {"backbone": backbone}
    whole = keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts, traits=traits)
    return whole.but(causal=False)


def _step(inputs: int, outputs: int, side: int) -> Block:
    return block(conv=conv(inputs, outputs, side), batch_norm=batch_norm(outputs))


def blueprint(s: Spec) -> Block:
    d, of, scales = s.hidden, s.traits, s.traits["scales"]
    widths = [of[f"level.{place}"] for place in range(of["levels"])]
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
    into, narrow, steps = of["auxiliary_in_channels"], of["auxiliary_channels"], of["auxiliary_num_convs"]
    first = Repeat(Indices.below(1), _step(into, narrow, 3))
    rest = Repeat(Indices(range(1, max(1, int(steps))), steps - 1), _step(narrow, narrow, 3))
    further = block(
        "other",
        convs=None if not steps else (first, rest) if steps > 1 else first,
        conv_cat=_step(into + narrow, narrow, 3) if of["auxiliary_concat_input"] else None,
        classifier=conv(narrow, s.labels, 1, bias=True),
    )
    backbone = families.tree(s.parts["backbone"])
    return block(backbone=backbone, decode_head=head, auxiliary_head=further if of["auxiliary"] else None)
