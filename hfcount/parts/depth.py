"""Parts of estimators of depth, which join features of several layers of a backbone (arXiv:2103.13413)."""

from hfcount.parts.convolution import batch_norm, conv, transposed
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, block


def resizing(s: Spec, place: int) -> Block | None:
    """What makes the features of a level larger or smaller, if anything does."""
    d, factor = s.traits[f"neck.{place}"], s.traits[f"factor.{place}"]
    return None if factor == 1 else transposed(d, d, factor) if factor else conv(d, d, 3, bias=True)


def reassembling(s: Spec, width: int, readout: bool = False, spared: int = 0) -> Block:
    """Features of each level, `width` wide, as an image of its own width and size.

    Tensors: layers of projection and resize, and with `readout` readout_projects. The first `spared` levels have none.
    """
    of, levels, read = s.traits, dict[str, Block](), dict[str, Block]()
    for place in range(spared, of["levels"]):
        d = of[f"neck.{place}"]
        if place < of["resized"]:
            levels[str(place)] = block(projection=conv(width, d, 1, bias=True), resize=resizing(s, place))
        read[str(place)] = Block({"0": Linear(2 * width, width, True, "projector")})
    return block(layers=Block(levels), readout_projects=Block(read) if readout else None)


def residual(s: Spec, bias: bool) -> Block:
    """Two convolutions with a way around them. Tensors: convolution1, convolution2, batch_norm1, batch_norm2."""
    d = s.traits["fusion_hidden_size"]
    norm = batch_norm(d) if s.traits["use_batch_norm_in_fusion_residual"] else None
    one = conv(d, d, 3, bias=bias)
    return block(convolution1=one, convolution2=one, batch_norm1=norm, batch_norm2=norm)


def fusion(s: Spec, bias: bool | None = None, **more: Node) -> Block:
    """A level joined with the coarser ones. Tensors: projection, residual_layer1, residual_layer2 and `more`."""
    d = s.traits["fusion_hidden_size"]
    one = residual(s, bool(s.traits["use_bias_in_fusion_residual"]) if bias is None else bias)
    return block(projection=conv(d, d, 1, bias=True), residual_layer1=one, residual_layer2=one, **more)


def neck(s: Spec, reassemble: Block | None, layer: Block) -> Block:
    """All levels brought to one width and joined. Tensors: reassemble_stage, convs, fusion_stage.layers."""
    of, d = s.traits, s.traits["fusion_hidden_size"]
    places = range(of["levels"])
    convs = Block({str(place): conv(of[f"neck.{place}"], d, 3) for place in places})
    joined = Block({str(place): layer for place in places})
    return block("projector", reassemble_stage=reassemble, convs=convs, fusion_stage=block(layers=joined))


def shrinking(d: int, width: int) -> Block:
    """Three convolutions to a depth. Tensors: conv1 (d/2, d), conv2 (width, d/2), conv3 (1, width), with biases."""
    return block(
        "other",
        conv1=conv(d, d // 2, 3, bias=True),
        conv2=conv(d // 2, width, 3, bias=True),
        conv3=conv(width, 1, 1, bias=True),
    )


def dense_head(s: Spec, width: int, name: str, outputs: int) -> Block:
    """Features of all levels joined, and so many `outputs` for each place, as TIPS v2 names it (arXiv:2410.16512).

    Tensors: reassemble, convs, fusion_blocks, project (d_f, d_f, 3, 3), and `name` (outputs, d_f).
    """
    d, of = s.traits["fusion_hidden_size"], s.traits
    levels, resized = range(of["levels"]), range(of["resized"])
    sizes = {str(place): resizing(s, place) for place in resized}
    reassemble = block(
        out_projections=Block({str(place): conv(width, of[f"neck.{place}"], 1, bias=True) for place in resized}),
        resize_layers=Block({place: one for place, one in sizes.items() if one}),
        readout_projects=Repeat(Indices.below(len(levels)), Linear(2 * width, width, True)),
    )
    unit = block(conv1=conv(d, d, 3), conv2=conv(d, d, 3))
    joined = {
        str(place): block(out_conv=conv(d, d, 1, bias=True), residual_unit=unit if place else None, main_unit=unit)
        for place in levels
    }
    parts = {
        "reassemble": reassemble,
        "convs": Block({str(place): conv(of[f"neck.{place}"], d, 3) for place in levels}),
        "fusion_blocks": Block(joined),
        "project": conv(d, d, 3, bias=True),
    }
    return Block({**parts, name: Linear(d, outputs, True)}, "other")
