"""ResNet as timm builds and names it, from the architecture's name alone (arXiv:1512.03385, arXiv:1605.07146)."""

from hfcount import keys
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.parts.convolution import batch_norm, conv, frozen, led
from hfcount.spec import Layer, Layers, Spec
from hfcount.text import printable
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Node, block

# transformers 5.23: modeling_timm_backbone.py
MODEL_TYPES = ("timm_backbone",)  # its names are those of timm 1.0, models/resnet.py
IGNORED = ("output_stride", "stage_names", "use_pretrained_backbone")

_RESNETS = {  # whether with bottlenecks, layers of each stage, width of the first bottleneck
    "resnet18": (False, (2, 2, 2, 2), 64),
    "resnet34": (False, (3, 4, 6, 3), 64),
    "resnet26": (True, (2, 2, 2, 2), 64),
    "resnet50": (True, (3, 4, 6, 3), 64),
    "resnet101": (True, (3, 4, 23, 3), 64),
    "resnet152": (True, (3, 8, 36, 3), 64),
    "resnet200": (True, (3, 24, 36, 3), 64),
    "wide_resnet50_2": (True, (3, 4, 6, 3), 128),
    "wide_resnet101_2": (True, (3, 4, 23, 3), 128),
}
_STEM, _WIDER = 64, 4  # the width of the first convolution, and how much wider than its inside a bottleneck is


def spec(c: Config) -> Spec:
    name = c.str("backbone")
    known = _RESNETS.get(name.rpartition("/")[2].partition(".")[0])
    if known is None or not c.bool("features_only", default=True):
        raise UnknownArchitecture(
            f"{c.where}: backbone {printable(name, 60)} is a model of timm, of which only ResNets that give features"
            f" are described: {', '.join(_RESNETS)}."
        )
    deep, depths, narrow = known
    chosen = c.ints("out_indices", default=(-1,))
    # What comes after the last features is not built.
    last = max((place % 5 for place in chosen), default=4)
    layers = []
    for number, depth in enumerate(depths[:last]):
        d = keys.sized(f"d{number + 1}", _STEM * 2**number * (_WIDER if deep else 1))
        traits = {"width": d, "inner": keys.sized(f"b{number + 1}", narrow * 2**number)}
        layers.append(Layers(indices=Indices.below(depth), layer=Layer(traits=traits)))
    switches: dict[str, int] = {
        "deep": deep,
        "freeze_batch_norm_2d": c.bool("freeze_batch_norm_2d", default=False),
        "num_channels": keys.sized("C", c.int("num_channels", default=3)),
        "embedding_size": keys.sized("d0", _STEM),
        "wrapped": not c.nested,
    }
    widths: list[int] = [switches["embedding_size"], *(one.layer.traits["width"] for one in layers)]
    return keys.encoding(c, layers, {"Backbone": "base"}, hidden=widths[-1], traits=switches)


def blueprint(s: Spec) -> Block:
    of, before = s.traits, s.traits["embedding_size"]

    def layer(inputs: int, d: int, inner: int, first: bool) -> Block:
        widths = [(inputs, inner, 1), (inner, inner, 3), (inner, d, 1)] if of["deep"] else [(inputs, d, 3), (d, d, 3)]
        steps = dict[str, Block]()
        for number, (into, out, side) in enumerate(widths, 1):
            steps |= {f"conv{number}": conv(into, out, side), f"bn{number}": batch_norm(out)}
        way = {"downsample": Block({"0": conv(inputs, d, 1), "1": batch_norm(d)})} if first else {}
        return Block({**steps, **way})

    stem = {"conv1": conv(of["num_channels"], before, 7), "bn1": batch_norm(before)}
    stages = dict[str, Node]()
    for number, part in enumerate(s.layers):
        d, inner = part.layer.traits["width"], part.layer.traits["inner"]
        shortened = bool(number or of["deep"])  # only a first stage of plain layers keeps width and size
        stages[f"layer{number + 1}"] = led(
            part.indices.count, layer(before, d, inner, shortened), layer(d, d, inner, False)
        )
        before = d
    parts: dict[str, Node] = {**stem, **stages}
    if of["freeze_batch_norm_2d"]:
        parts = {name: frozen(one) for name, one in parts.items()}
    return block(_backbone=Block(parts)) if of["wrapped"] else Block(parts)
