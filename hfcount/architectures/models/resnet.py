"""ResNet: stages of convolutions with a way around them, plain or with a bottleneck (arXiv:1512.03385)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import led, normed
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("resnet",)  # transformers 5.23: modeling_resnet.py
IGNORED = ("out_indices", "downsample_in_bottleneck")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")
_REDUCTION = 4  # by how much a bottleneck is narrower than the layer


class Resnet(Sizes):
    num_channels: int = size("C")
    embedding_size: int = size("d0")
    bottleneck: bool
    downsample_in_first_stage: bool = flag(absent=False)


def spec(c: Config) -> Spec[Resnet]:
    widths = c.ints("hidden_sizes")
    kind = c.choice("layer_type", ("basic", "bottleneck"), "bottleneck")
    layers = keys.stages(c, widths[: c.length("depths")])
    sizes = Resnet.read(c, bottleneck=kind == "bottleneck")
    d = layers[-1].layer.width if len(layers) == len(widths) else keys.dim("d", widths[-1])
    model = keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER)
    return model.replace(features=(sizes.embedding_size, *(layer.layer.width for layer in layers))).having(sizes)


def blueprint(s: Spec[Resnet]) -> Block:
    of, before = s.own, s.own.embedding_size

    def layer(inputs: int, d: int, shortened: bool) -> Block:
        if of.bottleneck:
            narrow = d // _REDUCTION
            way = [normed(inputs, narrow, 1), normed(narrow, narrow, 3), normed(narrow, d, 1)]
        else:
            way = [normed(inputs, d, 3), normed(d, d, 3)]
        steps = Block({str(number): step for number, step in enumerate(way)})
        return block(shortcut=normed(inputs, d, 1) if shortened else None, layer=steps)

    stages = dict[str, Block]()
    for number, part in enumerate(s.layers):
        d = part.layer.width
        shortened = before != d or bool(number or of.downsample_in_first_stage)
        stages[str(number)] = block(layers=led(part.indices.count, layer(before, d, shortened), layer(d, d, False)))
        before = d
    stem = block(embedder=normed(of.num_channels, of.embedding_size, 7))
    body = block(embedder=stem, encoder=block(stages=Block(stages)))
    labels = block(classifier=Block({"1": classifier(s)}))
    return headed(s, "resnet", body, image_classification=labels)
