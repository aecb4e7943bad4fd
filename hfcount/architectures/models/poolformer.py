"""PoolFormer: stages whose layers mix places by taking their mean, without a weight (arXiv:2111.11418)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Node, Tensor, block

MODEL_TYPES = ("poolformer",)  # transformers 5.23: modeling_poolformer.py
IGNORED = ("patch_size", "stride", "pool_size", "strides", "padding")

_HEADS = ("ForImageClassification", "Model")


class PoolformerLayer(Record):
    """Sizes specific to a layer of PoolFormer: the side of the patches before its stage."""

    patch_size: int


class Poolformer(Sizes):
    num_channels: int = size("C")
    use_layer_scale: bool = flag(absent=True)


def spec(c: Config) -> Spec[Poolformer]:
    count = c.int("num_encoder_blocks")
    widths, sides = keys.each(c, "hidden_sizes", count, "d"), keys.each(c, "patch_sizes", count, "P")
    sizes = [PoolformerLayer(patch_size=side) for side in sides]
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), own=sizes)
    model_sizes = Poolformer.read(c)
    d = keys.dim("d", c.ints("hidden_sizes")[-1])
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[Poolformer]) -> Block:
    before, embeddings, stages = s.own.num_channels, dict[str, Block](), dict[str, Node]()

    def layer_block(layer: Layer) -> Block:
        d, wide = layer.width, layer.dense.width
        scale, norm = Tensor((d,)) if s.own.use_layer_scale else None, layer_norm(d)
        network = block("mlp", conv1=conv(d, wide, 1, bias=True), conv2=conv(wide, d, 1, bias=True))
        return block(output=network, before_norm=norm, after_norm=norm, layer_scale_1=scale, layer_scale_2=scale)

    for number, part in enumerate(s.layers):
        d = part.layer.width
        projection = conv(before, d, part.layer.sizes(PoolformerLayer).patch_size, bias=True)
        embeddings[str(number)], stages[str(number)] = (
            block("embedding", projection=projection),
            stack((part,), layer_block),
        )
        before = d
    body = block(encoder=block(patch_embeddings=Block(embeddings), block=Block(stages)))
    labels = block(norm=layer_norm(s.hidden), classifier=classifier(s))
    return headed(s, "poolformer", body, image_classification=labels)
