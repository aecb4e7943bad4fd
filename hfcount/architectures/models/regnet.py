"""RegNet: stages of convolutions in groups of one width, with squeeze and excitation in Y (arXiv:2003.13678)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, led, normed
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("regnet",)  # transformers 5.23: modeling_regnet.py

_HEADS = ("ForImageClassification", "Model")


class Regnet(Sizes):
    num_channels: int = size("C")
    embedding_size: int = size("d0")
    groups_width: int = size("g")
    squeezed: bool
    downsample_in_first_stage: bool = flag(absent=True)


def spec(c: Config) -> Spec[Regnet]:
    widths, kind = c.ints("hidden_sizes"), c.choice("layer_type", ("x", "y"), "y")
    sizes = Regnet.read(c, squeezed=kind == "y")
    layers = keys.stages(c, widths[: c.length("depths")])
    d = layers[-1].layer.width if len(layers) == len(widths) else keys.dim("d", widths[-1])
    model = keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER)
    return model.replace(features=(sizes.embedding_size, *(layer.layer.width for layer in layers))).having(sizes)


def blueprint(s: Spec[Regnet]) -> Block:
    of, before = s.own, s.own.embedding_size

    def layer(number: int, inputs: int, d: int, shortened: bool) -> Block:
        way = [normed(inputs, d, 1), normed(d, d, 3, groups=max(1, d // of.groups_width))]
        if of.squeezed:
            narrow = Dim.named(f"r{number}", round(inputs / 4), f"d{number} / 4, rounded")
            way.append(block(attention=Block({"0": conv(d, narrow, 1, bias=True), "2": conv(narrow, d, 1, bias=True)})))
        way.append(normed(d, d, 1))
        steps = Block({str(number): step for number, step in enumerate(way)})
        return block(shortcut=normed(inputs, d, 1) if shortened else None, layer=steps)

    stages = dict[str, Block]()
    for number, part in enumerate(s.layers):
        d = part.layer.width
        shortened = before != d or bool(number or of.downsample_in_first_stage)
        layers = led(part.indices.count, layer(number, before, d, shortened), layer(number + 1, d, d, False))
        stages[str(number)] = block(layers=layers)
        before = d
    stem = block(embedder=normed(of.num_channels, of.embedding_size, 3))
    body = block(embedder=stem, encoder=block(stages=Block(stages)))
    return headed(s, "regnet", body, image_classification=block(classifier=Block({"1": classifier(s)})))
