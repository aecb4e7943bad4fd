"""LW-DETR and those with its keys: queries in groups, of which one is left after training (arXiv:2207.13085)."""

from collections.abc import Callable

from hfcount.architectures.components.detection import perceptron
from hfcount.architectures.keys import decoder_spec, dim, divides, multi_head, uniform
from hfcount.architectures.layers.model import Heads, labels
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, size
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat


class GroupedLayer(Record):
    """A layer of the decoder: `cross_heads` are those that attend to the features of an image."""

    cross_heads: int


class Grouped(Sizes):
    """Queries in groups, and convolutions that join a backbone's features, of which the inner ones are narrower."""

    num_queries: int = size("n_q")
    group_detr: int = count("n_g")
    decoder_n_points: int = size("n_s")
    inner: int = derived(lambda c: dim("d_p", c.times("hidden_expansion", c.int("d_model"), default=0.5)))
    c2f_num_blocks: int = count("n_b", minimum=0)

    def tensors(self, d: int, classes: int) -> dict[str, Node]:
        """The object proposals of each group of queries.

        Tensors: enc_output (d, d), enc_output_norm (d), enc_out_bbox_embed, enc_out_class_embed (c, d), each numbered.
        """
        each = Indices.below(self.group_detr)
        return {
            "enc_output": Repeat(each, Linear(d, d, True, "other")),
            "enc_output_norm": Repeat(each, layer_norm(d)),
            "enc_out_bbox_embed": Repeat(each, perceptron(d, d, d, 4)),
            "enc_out_class_embed": Repeat(each, Linear(d, classes, True, "other")),
        }


def grouped_queries(c: Config, backbone: Spec, heads: Heads) -> Spec[Grouped]:
    """A decoder of such queries, whose layers are of `GroupedLayer`; the backbone's features are all as wide."""
    d, crossed = c.int("d_model"), c.int("decoder_cross_attention_heads")
    divides(c, "decoder_cross_attention_heads", crossed, "d_model", d)
    bias, attending = c.bool("attention_bias", default=True), c.int("decoder_self_attention_heads")
    layer = Layer(
        mixer=multi_head(c, d, attending, bias=bias, indivisible="run", own_width=True),
        ffn=Dense(width=c.int("decoder_ffn_dim"), bias=True),
        own=GroupedLayer(cross_heads=dim("h_x", crossed)),
    )
    sizes = Grouped.read(c)
    layers = uniform(layer, c.int("decoder_layers", maximum=MAX_LAYERS))
    # Within these detectors, and not elsewhere, the attention of the backbone is stored under older names.
    parts = {"backbone": backbone.replace(adapted=True)}
    model = decoder_spec(c, layers, vocab=0, hidden=d, layer_count=None, heads=heads, parts=parts)
    return model.replace(causal=False, labels=labels(c, 2)).having(sizes)


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
    path = Block({name: step(inner, inner, 3) for name in (first, last)})
    return Block(
        {
            first: step(inputs, 2 * inner, 1),
            last: step((2 + blocks) * inner, d, 1),
            **({between: Repeat(Indices.below(blocks), path)} if blocks else {}),
        }
    )
