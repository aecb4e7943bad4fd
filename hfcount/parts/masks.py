"""Parts of segmenters that predict a mask for each query (arXiv:2107.06278, arXiv:2112.01527)."""

from collections.abc import Sequence
from itertools import pairwise

from hfcount.parts.classic import fc
from hfcount.parts.convolution import conv
from hfcount.parts.detection import sampling
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Component, Linear, Tensor, block

LEVELS, POINTS = 3, 4  # that deformable attention looks at, whatever the config says


def numbered_steps(*widths: int, component: Component = "other", norm: bool = False) -> Block:
    """A network through these widths. Tensors: 0.0, 1.0, ... with biases."""
    made = {str(place): Block({"0": Linear(*pair, True)}) for place, pair in enumerate(pairwise(widths))}
    return Block(made, component)


def convolved(inputs: int, outputs: int, side: int, bias: bool = False) -> Block:
    """A convolution and a norm over groups of channels. Tensors: 0 (outputs, inputs, side, side), 1 (outputs)."""
    return Block({"0": conv(inputs, outputs, side, bias=bias), "1": layer_norm(outputs)})


def fused_attention(d: int) -> Block:
    """Attention as torch names it. Tensors: in_proj_weight (3·d, d), in_proj_bias (3·d), out_proj (d, d)."""
    return block(
        "attention",
        in_proj_weight=Tensor((3 * d, d)),
        in_proj_bias=Tensor((3 * d,)),
        out_proj=Linear(d, d, True),
    )


def pixel_decoder(inner: Spec, widths: Sequence[int], mask: int, finer: int) -> Block:
    """Deformable attention over the coarsest levels of a backbone, and convolutions over `finer` further ones.

    `inner` has the layers of that attention.

    Tensors: level_embed, input_projections, encoder.layers, mask_projection (mask, d), adapter_N, layer_N.
    """
    d, norm = inner.hidden, layer_norm(inner.hidden)

    def layer(one: Layer) -> Block:
        seen = sampling(d, LEVELS * POINTS, one.attention.heads)
        network = fc(d, one.dense.width)
        return Block({"self_attn": seen, "self_attn_layer_norm": norm, **network, "final_layer_norm": norm})

    coarse = list(widths)[-LEVELS:][::-1]
    more = dict[str, Block]()
    for number, width in enumerate(list(widths)[:finer], 1):
        more |= {f"adapter_{number}": convolved(width, d, 1), f"layer_{number}": convolved(d, d, 3)}
    parts = block(
        level_embed=Tensor((LEVELS, d), component="embedding"),
        input_projections=Block({str(place): convolved(width, d, 1, bias=True) for place, width in enumerate(coarse)}),
        encoder=block(layers=stack(inner.layers, layer)),
        mask_projection=conv(d, mask, 1, bias=True),
    )
    return Block({**parts.children, **more})
