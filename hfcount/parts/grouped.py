"""Parts of LW-DETR and RF-DETR, whose queries are in groups (arXiv:2406.03459, arXiv:2511.09554)."""

from collections.abc import Callable

from hfcount.parts.convolution import conv, depthwise
from hfcount.parts.norms import layer_norm
from hfcount.spec import GQA
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block


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
