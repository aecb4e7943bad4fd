"""ResNet and Swin as timm builds and names them, from the name alone (arXiv:1512.03385, arXiv:2103.14030)."""

from hfcount.errors import UnknownArchitecture
from hfcount.keys.timm import RESNETS
from hfcount.keys.timm_features import SWINS, resnet_features, swin_features
from hfcount.mapper import Config
from hfcount.parts.convolution import frozen
from hfcount.parts.timm import resnet, swin
from hfcount.spec import Spec
from hfcount.text import printable
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_timm_backbone.py
MODEL_TYPES = ("timm_backbone",)  # its names are those of timm 1.0, models/resnet.py
IGNORED = ("output_stride", "stage_names", "use_pretrained_backbone", "img_size", "always_partition")


def spec(c: Config) -> Spec:
    name = c.str("backbone")
    stem, features = name.rpartition("/")[2].partition(".")[0], c.bool("features_only", default=True)
    if not features or stem not in {*RESNETS, *SWINS}:
        raise UnknownArchitecture(
            f"{c.where}: backbone {printable(name, 60)} is a model of timm, of which only these are described, as they"
            f" give features: {', '.join((*RESNETS, *SWINS))}."
        )
    found = swin_features(c, SWINS[stem]) if stem in SWINS else resnet_features(c, RESNETS[stem])
    return found.but(traits={**found.traits, "wrapped": not c.nested})


def blueprint(s: Spec) -> Block:
    features = swin(s) if "window_size" in s.traits else _resnet(s)
    return block(_backbone=features) if s.traits["wrapped"] else features


def _resnet(s: Spec) -> Block:
    of = s.traits
    parts = resnet(s.layers, of["num_channels"], of["embedding_size"], bool(of["deep"]))
    return Block({name: frozen(one) for name, one in parts.items()} if of["freeze_batch_norm_2d"] else parts)
