"""Segmenters that predict a mask for each query, with deformable attention over levels (arXiv:2112.01527)."""

from collections.abc import Sequence
from itertools import pairwise
from math import log2

from hfcount.architectures.components.detection import sampling
from hfcount.architectures.keys import decoder_spec, dim, multi_head, uniform
from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.model import Heads, labels
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, Tensor, block

LEVELS, POINTS = 3, 4  # that deformable attention looks at, whatever the config says


class Masked(Sizes):
    """Queries over features of a backbone, of these widths; so many of the levels are `finer` than attention's."""

    widths: tuple[int, ...]
    finer: int
    num_queries: int = size("n_q")

    def pixels(self, encoder: Spec, mask: int) -> Block:
        """Features of each place, `mask` wide; see `pixel_decoder`."""
        return pixel_decoder(encoder, self.widths, mask, self.finer)


def masking(c: Config, heads: Heads, backbone: Spec, widths: Sequence[int], width: str, strides: str) -> Spec[Masked]:
    """A segmenter around a backbone with features of these widths.

    Args:
        width: the key of the width of the encoder's features.
        strides: the key of the steps of the backbone's levels.
    """
    d, inside, many = c.int("hidden_dim"), dim("d_e", c.int(width)), c.int("num_attention_heads")
    steps = c.ints(strides, default=(4, 8, 16, 32))[-3:]
    common = c.int("common_stride")
    if not steps or min(steps) < 1:
        raise c.error("out-of-range", f"{strides} must be a list of numbers above 0.", strides)
    wide = Dense(width=c.int("encoder_feedforward_dim"), bias=True)
    layers = uniform(Layer(mixer=multi_head(c, inside, many), ffn=wide), c.int("encoder_layers", maximum=MAX_LAYERS))
    encoder = Spec(family=c.family, hidden=inside, layers=tuple(layers), causal=False)
    layer = Layer(mixer=multi_head(c, d, many), ffn=Dense(width=c.int("dim_feedforward"), bias=True))
    count = c.int("decoder_layers", maximum=MAX_LAYERS) - 1  # the last prediction needs no layer of its own
    sizes = Masked.read(c, widths=tuple(widths), finer=max(0, int(log2(min(steps)) - log2(max(1, common)))))
    parts = {"encoder": encoder, "backbone": backbone}
    model = decoder_spec(c, uniform(layer, count), vocab=0, hidden=d, layer_count=None, heads=heads)
    # Widths of the backbone are its own sizes, too: they keep their symbols, as it gets its place after them.
    return model.replace(causal=False, labels=labels(c, 2)).having(sizes).replace(parts=parts)


def numbered_steps(*widths: int, component: Component = "other") -> Block:
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

    def layer_block(layer: Layer) -> Block:
        vision_width = sampling(d, LEVELS * POINTS, layer.attention.heads)
        network = fc(d, layer.dense.width)
        return Block({"self_attn": vision_width, "self_attn_layer_norm": norm, **network, "final_layer_norm": norm})

    coarse = list(widths)[-LEVELS:][::-1]
    more = dict[str, Block]()
    for number, width in enumerate(list(widths)[:finer], 1):
        more |= {f"adapter_{number}": convolved(width, d, 1), f"layer_{number}": convolved(d, d, 3)}
    parts = block(
        level_embed=Tensor((LEVELS, d), component="embedding"),
        input_projections=Block({str(place): convolved(width, d, 1, bias=True) for place, width in enumerate(coarse)}),
        encoder=block(layers=stack(inner.layers, layer_block)),
        mask_projection=conv(d, mask, 1, bias=True),
    )
    return Block({**parts.children, **more})
