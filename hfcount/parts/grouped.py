"""Parts of LW-DETR and RF-DETR, whose queries are in groups (arXiv:2406.03459, arXiv:2511.09554)."""

from collections.abc import Callable

from hfcount.parts.convolution import conv, depthwise, normed, transposed
from hfcount.parts.detection import perceptron
from hfcount.parts.norms import layer_norm
from hfcount.spec import GQA, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

_WIDE = 512  # features that are wider are made narrower before they are enlarged


def split_stage(
    inputs: int,
    d: int,
    inner: int,
    blocks: int,
    step: Callable[[int, int, int], Block],
    names: tuple[str, str, str] = ("conv1", "conv2", "bottlenecks"),
) -> Block:
    """Features split in two, one half convolved again and again, and all of it joined (YOLOv8's C2f).

    `step` builds a convolution of so many channels to so many, by the side of its kernel. Tensors under `names`.
    """
    first, last, between = names
    one = Block({name: step(inner, inner, 3) for name in (first, last)})
    return Block(
        {
            first: step(inputs, 2 * inner, 1),
            last: step((2 + blocks) * inner, d, 1),
            **({between: Repeat(Indices.below(blocks), one)} if blocks else {}),
        }
    )


def scaled(s: Spec, outputs: int, halves: int) -> Block:
    """So many features of a backbone at so many halves of their size, joined.

    Tensors: sampling_layers, one for each of them, projector_layer as of `split_stage`, layer_norm (d).
    """
    seen, of = s.parts["backbone"], s.traits
    width = seen.hidden
    way, out, half, fourth = dict[str, Block](), width, width // 2, width // 4

    def step(into: int, out: int, side: int) -> Block:
        return normed(into, out, side, names=("conv", "norm"))

    if halves == 4 and width > _WIDE:
        way, out = {"0": step(width, half, 1), "1": transposed(half, fourth, 2)}, fourth
    elif halves == 4:
        way, out = {"0": transposed(width, half, 2)}, half
    elif halves == 1:
        way = {"0": step(width, width, 3)}
    return block(
        "projector",
        sampling_layers=Repeat(Indices.below(outputs), block(layers=Block(way))) if way else None,
        projector_layer=split_stage(outputs * out, s.hidden, of["inner"], of["c2f_num_blocks"], step),
        layer_norm=layer_norm(s.hidden),
    )


def proposing(s: Spec) -> dict[str, Node]:
    """What proposes objects to each group of queries.

    Tensors: enc_output (d, d), enc_output_norm (d), enc_out_bbox_embed, enc_out_class_embed (c, d), each numbered.
    """
    d, each = s.hidden, Indices.below(s.traits["group_detr"])
    return {
        "enc_output": Repeat(each, Linear(d, d, True, "other")),
        "enc_output_norm": Repeat(each, layer_norm(d)),
        "enc_out_bbox_embed": Repeat(each, perceptron(d, d, d, 4)),
        "enc_out_class_embed": Repeat(each, Linear(d, s.labels, True, "other")),
    }


def packed_attention(d: int, a: GQA) -> Block:
    """Attention as torch names it. Tensors: in_proj_weight (3·h·h_d, d), out_proj (d, h·h_d), with biases as `a` says.

    The bias of the first is in_proj_bias.
    """
    wide = a.heads * a.head_dim
    return block(
        "attention",
        in_proj_weight=Tensor((3 * wide, d)),
        in_proj_bias=Tensor((3 * wide,)) if a.qkv_bias else None,
        out_proj=Linear(wide, d, a.out_bias),
    )


def masking(d: int, width: int, layers: int) -> Block:
    """Masks from products of queries and places, which `layers` blocks convolve; `width` is of the queries' network.

    Tensors: blocks, spatial_features_proj, query_features_block, query_features_proj, bias (1).
    """
    norm, square = layer_norm(d), Linear(d, d, True)
    network = {"0": Linear(d, width, True), "2": Linear(width, d, True)}
    return block(
        "other",
        blocks=Repeat(Indices.below(layers), block(dwconv=depthwise(d, 3, bias=True), norm=norm, pwconv1=square)),
        spatial_features_proj=conv(d, d, 1, bias=True),
        query_features_block=block(norm_in=norm, layers=Block(network)),
        query_features_proj=square,
        bias=Tensor((1,)),
    )
