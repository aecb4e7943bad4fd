"""Segmenters that predict a mask for each query, with deformable attention over levels (arXiv:2112.01527)."""

from collections.abc import Sequence
from math import log2

from hfcount.keys import alike, decoder_spec, multi_head, sized
from hfcount.keys.model import Heads, labels
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts.masks import pixel_decoder
from hfcount.spec import Dense, Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block


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
    d, inside, many = c.int("hidden_dim"), sized("d_e", c.int(width)), c.int("num_attention_heads")
    steps = c.ints(strides, default=(4, 8, 16, 32))[-3:]
    common = c.int("common_stride")
    if not steps or min(steps) < 1:
        raise c.error(f"{strides} must be a list of numbers above 0.", strides)
    wide = Dense(width=c.int("encoder_feedforward_dim"), bias=True)
    layers = alike(Layer(mixer=multi_head(c, inside, many), ffn=wide), c.int("encoder_layers", maximum=MAX_LAYERS))
    encoder = Spec(family=c.family, hidden=inside, layers=tuple(layers), causal=False)
    one = Layer(mixer=multi_head(c, d, many), ffn=Dense(width=c.int("dim_feedforward"), bias=True))
    count = c.int("decoder_layers", maximum=MAX_LAYERS) - 1  # the last prediction needs no layer of its own
    own = Masked.read(c, widths=tuple(widths), finer=max(0, int(log2(min(steps)) - log2(max(1, common)))))
    parts = {"encoder": encoder, "backbone": backbone}
    whole = decoder_spec(c, alike(one, count), vocab=0, hidden=d, layer_count=None, heads=heads)
    # Widths of the backbone are its own sizes, too: they keep their symbols, as it gets its place after them.
    return whole.but(causal=False, labels=labels(c, 2)).having(own).but(parts=parts)
