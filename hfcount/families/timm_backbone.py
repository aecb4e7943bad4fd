"""ResNet as timm builds and names it, from the architecture's name alone (arXiv:1512.03385, arXiv:1605.07146)."""

from hfcount import keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys.timm import RESNETS, STEM, resnet
from hfcount.mapper import Config
from hfcount.parts import timm
from hfcount.parts.convolution import frozen
from hfcount.spec import Spec
from hfcount.text import printable
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_timm_backbone.py
MODEL_TYPES = ("timm_backbone",)  # its names are those of timm 1.0, models/resnet.py
IGNORED = ("output_stride", "stage_names", "use_pretrained_backbone")


def spec(c: Config) -> Spec:
    name = c.str("backbone")
    known = RESNETS.get(name.rpartition("/")[2].partition(".")[0])
    if known is None or not c.bool("features_only", default=True):
        raise UnknownArchitecture(
            f"{c.where}: backbone {printable(name, 60)} is a model of timm, of which only ResNets that give features"
            f" are described: {', '.join(RESNETS)}."
        )
    chosen = c.ints("out_indices", default=(-1,))
    # What comes after the last features is not built.
    layers = resnet(known, max((place % 5 for place in chosen), default=4))
    switches: dict[str, int] = {
        "deep": known.deep,
        "freeze_batch_norm_2d": c.bool("freeze_batch_norm_2d", default=False),
        "num_channels": keys.sized("C", c.int("num_channels", default=3)),
        "embedding_size": keys.sized("d0", STEM),
        "wrapped": not c.nested,
    }
    widths: list[int] = [switches["embedding_size"], *(one.layer.traits["width"] for one in layers)]
    return keys.encoding(c, layers, {"Backbone": "base"}, hidden=widths[-1], traits=switches)


def blueprint(s: Spec) -> Block:
    of = s.traits
    parts = timm.resnet(s.layers, of["num_channels"], of["embedding_size"], bool(of["deep"]))
    if of["freeze_batch_norm_2d"]:
        parts = {name: frozen(one) for name, one in parts.items()}
    return block(_backbone=Block(parts)) if of["wrapped"] else Block(parts)
