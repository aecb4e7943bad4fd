"""PoolFormer: stages whose layers mix places by taking their mean, without a weight (arXiv:2111.11418)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.classic import classifier, headed
from hfcount.parts.convolution import conv
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Node, Tensor, block

MODEL_TYPES = ("poolformer",)  # transformers 5.23: modeling_poolformer.py
IGNORED = ("patch_size", "stride", "pool_size", "strides", "padding")

_HEADS = ("ForImageClassification", "Model")


def spec(c: Config) -> Spec:
    count = c.int("num_encoder_blocks")
    widths, sides = keys.each(c, "hidden_sizes", count, "d"), keys.each(c, "patch_sizes", count, "P")
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), traits={"patch_size": sides})
    traits = {
        "num_channels": keys.sized("C", c.int("num_channels")),
        "use_layer_scale": c.bool("use_layer_scale", default=True),
    }
    d = keys.sized("d", c.ints("hidden_sizes")[-1])
    return keys.imaging(c, layers, _HEADS, hidden=d, traits=traits, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    before, embeddings, stages = s.traits["num_channels"], dict[str, Block](), dict[str, Node]()

    def layer(one: Layer) -> Block:
        d, wide = one.width, one.dense.width
        scale, norm = Tensor((d,)) if s.traits["use_layer_scale"] else None, layer_norm(d)
        network = block("mlp", conv1=conv(d, wide, 1, bias=True), conv2=conv(wide, d, 1, bias=True))
        return block(output=network, before_norm=norm, after_norm=norm, layer_scale_1=scale, layer_scale_2=scale)

    for number, part in enumerate(s.layers):
        d = part.layer.width
        projection = conv(before, d, part.layer.traits["patch_size"], bias=True)
        embeddings[str(number)], stages[str(number)] = block("embedding", projection=projection), stack((part,), layer)
        before = d
    body = block(encoder=block(patch_embeddings=Block(embeddings), block=Block(stages)))
    labels = block(norm=layer_norm(s.hidden), classifier=classifier(s))
    return headed(s, "poolformer", body, image_classification=labels)
