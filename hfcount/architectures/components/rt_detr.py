"""RT-DETR and those with its keys: an encoder of several levels, and queries found in its output (arXiv:2304.08069)."""

from collections.abc import Mapping, Sequence

from hfcount.architectures.components.detection import detecting, detr_layer, perceptron, sampling
from hfcount.architectures.keys import dim
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.convolution import batch_norm, conv, frozen, normed
from hfcount.architectures.layers.model import Heads, embedding
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

_BLOCKS = 3  # of a layer that fuses two levels


def denoising(c: Config) -> bool:
    """Whether there is a table of labels for denoising training."""
    return c.int("num_denoising", minimum=0) > 0


class Hybrid(Sizes):
    """The levels of an encoder: `upper` are the widths of the backbone's features, `lower` those for the decoder."""

    upper: tuple[int, ...]
    lower: tuple[int, ...]
    num_queries: int = size("n_q")
    frozen: bool = flag("freeze_backbone_batch_norms", absent=True)
    encoder_fused: int = derived(
        lambda c: dim("d_h", c.times("hidden_expansion", c.int("encoder_hidden_dim"), default=1.0))
    )
    levels: int = derived(lambda c: len(c.ints("encoder_in_channels", default=(512, 1024, 2048))))
    attended: int = derived(lambda c: len(c.ints("encode_proj_layers", default=(2,))))
    num_feature_levels: int = size("n_l", maximum=64)
    decoder_n_points: int = size("n_s")

    @property
    def points(self) -> int:
        """The points of all levels that a head of the decoder looks at."""
        return self.num_feature_levels * self.decoder_n_points

    def encoder(self, inner: Spec) -> Block:
        """The encoder with the layers of `inner`; see `hybrid_encoder`."""
        return hybrid_encoder(inner, self.levels, self.attended, cross_stage(inner.hidden, self.encoder_fused))

    def tensors(
        self,
        s: Spec,
        backbone: Block,
        decoder: Block,
        *,
        labelled: int | None,
        learned: bool = False,
        coordinates: int = 4,
        encoder: Block | None = None,
    ) -> Block:
        """RT-DETR over a backbone, without the sizes that a class adds.

        Args:
            labelled: the rows of the table of labels whose noise is taken away in training, if there is one.
            learned: whether queries begin with a table of their own.
            coordinates: how many describe a place.
            encoder: the encoder, if it is not RT-DETR's.
        """
        d, inner = s.hidden, s.part("encoder")
        return block(
            backbone=block(model=frozen(backbone) if self.frozen else backbone),
            encoder_input_proj=projected(self.upper, inner.hidden),
            encoder=encoder or self.encoder(inner),
            denoising_class_embed=None if labelled is None else embedding(labelled, d),
            weight_embedding=embedding(self.num_queries, d) if learned else None,
            enc_output=normed_linear(d),
            enc_score_head=Linear(d, s.labels, True, "other"),
            enc_bbox_head=perceptron(d, d, d, coordinates),
            decoder_input_proj=projected(self.lower, d, max(0, int(self.num_feature_levels) - len(self.lower))),
            decoder=decoder,
        )


def hybrid(
    c: Config, heads: Heads, backbone: Spec, *, first: int = 0, parts: Mapping[str, Spec] | None = None
) -> Spec[Hybrid]:
    """A detector with such an encoder; `first` is the number of the first of the backbone's features that it takes."""
    inner = c.part("backbone_config")
    none = inner.given("out_features") and not inner.strs("out_features")
    widths = [] if none else channels(chosen(inner), backbone)[first:]
    lower = c.ints("decoder_in_channels", default=(256, 256, 256), least=1, minimum=0)
    sizes = Hybrid.read(
        c, upper=tuple(widths), lower=tuple(dim(f"C{number}", width) for number, width in enumerate(lower, 1))
    )
    return detecting(c, heads, backbone, sizes, parts=parts, inside="encoder_hidden_dim")


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

    repvgg = block(conv1=step(hidden, hidden, 3), conv2=step(hidden, hidden, 1))
    return block(
        conv1=step(2 * d, hidden, 1),
        conv2=step(2 * d, hidden, 1),
        bottlenecks=Repeat(Indices.below(_BLOCKS), repvgg),
        conv3=step(hidden, d, 1) if int(hidden) != int(d) else None,
    )


def separable(d: int) -> Block:
    """A convolution across channels, one within each. Tensors: conv1 (d, d, 1, 1), conv2 (d, 1, 3, 3), with norms."""
    names = ("conv", "norm")
    return block(conv1=normed(d, d, 1, names=names), conv2=normed(d, d, 3, groups=d, names=names))


def hybrid_encoder(inner: Spec, levels: int, attended: int, fused: Block, smaller: Block | None = None) -> Block:
    """An encoder of so many `levels`, with the layers of `inner` in so many of them.

    `fused` joins two levels, and `smaller` halves their size, if not RT-DETR's convolution.

    Tensors: encoder of layers, lateral_convs, fpn_blocks, downsample_convs, pan_blocks.
    """
    d, between = inner.hidden, Indices.below(levels - 1)
    layers = block(layers=stack(inner.layers, lambda layer: detr_layer(d, layer)))
    return block(
        encoder=Repeat(Indices.below(attended), layers),
        lateral_convs=Repeat(between, normed(d, d, 1, names=("conv", "norm"))),
        fpn_blocks=Repeat(between, fused),
        downsample_convs=Repeat(between, smaller or normed(d, d, 3, names=("conv", "norm"))),
        pan_blocks=Repeat(between, fused),
    )


def normed_linear(d: int) -> Block:
    """A projection and its norm. Tensors: 0 (d, d) and 1 (d), with biases."""
    return Block({"0": Linear(d, d, True), "1": layer_norm(d)}, "other")


def refining(s: Spec, points: int, headed: bool, coordinates: int = 4, beside: Block | None = None) -> Block:
    """A decoder that refines places of so many `coordinates`; `beside` are further children of each layer's sampling.

    `points` are those of all levels that a head looks at. Tensors: layers, query_pos_head; if it is `headed`
    class_embed and bbox_embed, one for each layer.
    """
    d = s.hidden
    more = beside.children if beside else {}

    def layer_block(layer: Layer) -> Block:
        return detr_layer(d, layer, sampling(d, points, layer.attention.heads, **more))

    return block(
        layers=stack(s.layers, layer_block),
        query_pos_head=perceptron(coordinates, 2 * d, d),
        **(predictions(s, coordinates) if headed else {}),
    )


def predictions(s: Spec, coordinates: int = 4) -> dict[str, Node]:
    """The prediction heads of each decoder layer. Tensors: class_embed and bbox_embed, numbered."""
    d, each = s.hidden, Indices.below(s.depth)
    labels, place = Linear(d, s.labels, True, "other"), perceptron(d, d, d, coordinates)
    return {"class_embed": Repeat(each, labels), "bbox_embed": Repeat(each, place)}
