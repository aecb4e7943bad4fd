"""RT-DETR's hybrid encoder: attention within the coarsest level, convolutions across levels (arXiv:2304.08069)."""

from collections.abc import Sequence

from hfcount.parts.convolution import batch_norm, conv, frozen, normed
from hfcount.parts.detection import detr_layer, perceptron, sampling
from hfcount.parts.layers import altered
from hfcount.parts.model import embedding, stack
from hfcount.parts.norms import layer_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, block

_BLOCKS = 3  # of a layer that fuses two levels


def projected(widths: Sequence[int], d: int, further: int = 0, again: int | None = None) -> Block:
    """Each level's features as `d` channels, and `further` levels made of the last one with a larger kernel.

    `again` is the width of what these are made of, after the first of them, if it is not d.
    """
    known = [(width, 1) for width in widths] + [((again or d) if place else widths[-1], 3) for place in range(further)]
    made = {
        str(place): Block({"0": conv(into, d, side), "1": batch_norm(d)}) for place, (into, side) in enumerate(known)
    }
    return Block(made, "projector")


def cross_stage(d: int, hidden: int) -> Block:
    """Two levels fused (arXiv:1911.11929). Tensors: conv1, conv2, bottlenecks, and conv3 where `hidden` is not d."""

    def step(into: int, out: int, side: int) -> Block:
        return normed(into, out, side, names=("conv", "norm"))

    one = block(conv1=step(hidden, hidden, 3), conv2=step(hidden, hidden, 1))
    return block(
        conv1=step(2 * d, hidden, 1),
        conv2=step(2 * d, hidden, 1),
        bottlenecks=Repeat(Indices.below(_BLOCKS), one),
        conv3=step(hidden, d, 1) if int(hidden) != int(d) else None,
    )


def aggregated(d: int, hidden: int, blocks: int) -> Block:
    """Two levels fused by ever deeper ways that are joined at the end (arXiv:2402.13616).

    Tensors: conv1 to conv4, csp_rep1, csp_rep2.
    """

    def step(into: int, out: int, side: int) -> Block:
        return normed(into, out, side, names=("conv", "norm"))

    def way(into: int) -> Block:
        one = block(conv1=step(hidden, hidden, 3), conv2=step(hidden, hidden, 1))
        same = Repeat(Indices.below(blocks), one) if blocks else None
        return block(conv1=step(into, hidden, 1), conv2=step(into, hidden, 1), bottlenecks=same)

    return block(
        conv1=step(2 * d, 2 * d, 1),
        csp_rep1=way(d),
        conv2=step(hidden, hidden, 3),
        csp_rep2=way(hidden),
        conv3=step(hidden, hidden, 3),
        conv4=step(2 * d + 2 * hidden, d, 1),
    )


def separable(d: int) -> Block:
    """A convolution across channels, one within each. Tensors: conv1 (d, d, 1, 1), conv2 (d, 1, 3, 3), with norms."""
    names = ("conv", "norm")
    return block(conv1=normed(d, d, 1, names=names), conv2=normed(d, d, 3, groups=d, names=names))


def hybrid_encoder(s: Spec, fused: Block | None = None, smaller: Block | None = None) -> Block:
    """`fused` joins two levels, and `smaller` halves their size, if these are not RT-DETR's.

    Tensors: encoder of layers, lateral_convs, fpn_blocks, downsample_convs, pan_blocks.
    """
    inner, of = s.parts["encoder"], s.traits
    d, between = inner.hidden, Indices.below(of["levels"] - 1)
    fused = fused or cross_stage(d, of["encoder_fused"])
    layers = block(layers=stack(inner.layers, lambda one: detr_layer(d, one)))
    return block(
        encoder=Repeat(Indices.below(of["attended"]), layers),
        lateral_convs=Repeat(between, normed(d, d, 1, names=("conv", "norm"))),
        fpn_blocks=Repeat(between, fused),
        downsample_convs=Repeat(between, smaller or normed(d, d, 3, names=("conv", "norm"))),
        pan_blocks=Repeat(between, fused),
    )


def masking_encoder(s: Spec) -> Block:
    """RT-DETR's encoder, which also makes features of masks, as PP-DocLayoutV3 has it (PaddleOCR).

    Levels are doubled `steps.N` times, and joined. Tensors: mask_feature_head, encoder_mask_lateral,
    encoder_mask_output.
    """
    of, own = s.traits, s.parts["encoder"].hidden
    inner, outer = of["inner"], of["outer"]

    def finer(place: int) -> Block:
        # A step is a convolution, and then an enlargement, which has a number and no tensors.
        later = {str(2 * step): normed(inner, inner, 3) for step in range(1, of[f"steps.{place}"])}
        return block(layers=Block({"0": normed(own, inner, 3), **later}))

    levels = Block({str(place): finer(place) for place in range(of["strides"])})
    prototypes = conv(outer, of["num_prototypes"], 1, bias=True)
    return altered(
        hybrid_encoder(s),
        mask_feature_head=block(scale_heads=levels, output_conv=normed(inner, outer, 3)),
        encoder_mask_lateral=normed(of["x4_feat_dim"], outer, 3),
        encoder_mask_output=block(base_conv=normed(outer, outer, 3), conv=prototypes),
    )


def normed_linear(d: int) -> Block:
    """A projection and its norm. Tensors: 0 (d, d) and 1 (d), with biases."""
    return Block({"0": Linear(d, d, True), "1": layer_norm(d)}, "other")


def refining(s: Spec, headed: bool, coordinates: int = 4, beside: Block | None = None) -> Block:
    """A decoder that refines places of so many `coordinates`; each layer's sampling has what is in `beside`, too.

    Tensors: layers, query_pos_head; if it is `headed` class_embed and bbox_embed, one for each layer.
    """
    d, of = s.hidden, s.traits
    points = of.get("decoder_n_levels", of["num_feature_levels"]) * of["decoder_n_points"]
    more = beside.children if beside else {}

    def layer(one: Layer) -> Block:
        return detr_layer(d, one, sampling(d, points, one.attention.heads, **more))

    return block(
        layers=stack(s.layers, layer),
        query_pos_head=perceptron(coordinates, 2 * d, d),
        **(predictions(s, coordinates) if headed else {}),
    )


def predictions(s: Spec, coordinates: int = 4) -> dict[str, Node]:
    """What each layer of a decoder predicts. Tensors: class_embed and bbox_embed, numbered."""
    d, each = s.hidden, Indices.below(s.depth)
    labels, place = Linear(d, s.labels, True, "other"), perceptron(d, d, d, coordinates)
    return {"class_embed": Repeat(each, labels), "bbox_embed": Repeat(each, place)}


def querying(
    s: Spec, backbone: Block, decoder: Block, denoised: int | None, coordinates: int = 4, encoder: Block | None = None
) -> Block:
    """RT-DETR without what its class adds, over a backbone.

    Args:
        denoised: the rows of the table of labels whose noise is taken away in training, if there is one.
        coordinates: how many describe a place.
        encoder: the encoder, if it is not RT-DETR's.
    """
    d, of = s.hidden, s.traits
    upper, lower = ([of[f"{side}.{place}"] for place in range(of[f"{side}s"])] for side in ("upper", "lower"))
    return block(
        backbone=block(model=frozen(backbone) if of["frozen"] else backbone),
        encoder_input_proj=projected(upper, s.parts["encoder"].hidden),
        encoder=encoder or hybrid_encoder(s),
        denoising_class_embed=None if denoised is None else embedding(denoised, d),
        weight_embedding=embedding(of["num_queries"], d) if of.get("learned") else None,
        enc_output=normed_linear(d),
        enc_score_head=Linear(d, s.labels, True, "other"),
        enc_bbox_head=perceptron(d, d, d, coordinates),
        decoder_input_proj=projected(lower, d, max(0, int(of["num_feature_levels"]) - len(lower))),
        decoder=decoder,
    )
