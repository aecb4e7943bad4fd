"""Models of timm whose name settles how they are built: ViTs, ResNets, RepViTs, FastViTs (arXiv:2010.11929)."""

import re

from hfcount import keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys.model import labels
from hfcount.keys.timm import REPVITS, RESNETS, STEM, built, repvit, resnet
from hfcount.keys.timm_towers import FAST_VITS, PERCEPTION_ENCODERS, fast_vit, perception_encoder
from hfcount.mapper import Config
from hfcount.parts import timm, timm_towers
from hfcount.parts.classic import classifier
from hfcount.parts.convolution import batch_norm
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.text import printable
from hfcount.tree.dims import Dim
from hfcount.tree.nodes import Block, Node, block

MODEL_TYPES = ("timm_wrapper",)  # transformers 5.23: modeling_timm_wrapper.py
IGNORED = ("do_pooling", "num_classes", "num_features", "pretrained_cfg", "label_names", "global_pool")
SPELLINGS = {r"^(?!timm_model\.)": "timm_model."}

_HEADS = ("ForImageClassification", "Model")
_VITS = {
    "tiny": (192, 3, 12),
    "small": (384, 6, 12),
    "base": (768, 12, 12),
    "large": (1024, 16, 24),
    "huge": (1280, 16, 32),
}
"""The width, heads and layers of a plain ViT by the size in its name; its networks are four times as wide."""


def spec(c: Config) -> Spec:
    name = c.str("architecture").partition(".")[0]  # without the name of its weights
    if name in PERCEPTION_ENCODERS or name in FAST_VITS:
        read = perception_encoder if name in PERCEPTION_ENCODERS else fast_vit
        layers, fields = read(c, name)
        return keys.imaging(c, layers, _HEADS, **fields).but(labels=_labels(c))
    plain = re.fullmatch("(?:vit|deit)_(tiny|small|base|large|huge)_patch(8|14|16|32)_(224|384)", name)
    if not plain and name not in RESNETS and name not in REPVITS:
        raise UnknownArchitecture(
            f"{c.where}: {printable(name, 60)} is a model of timm, and its config does not tell how it is built."
            f" Described are {', '.join((*RESNETS, *REPVITS, *PERCEPTION_ENCODERS, *FAST_VITS))} and ViTs such as"
            " vit_base_patch16_224."
        )
    asked = built(c, int(name in RESNETS), 0 if plain else 4)
    channels = keys.sized("C", asked.channels)
    if plain:
        width, heads, count = _VITS[plain[1]]
        d, side = keys.sized("d", width), keys.sized("P", int(plain[2]))
        layer = Layer(mixer=keys.multi_head(c, d, heads), ffn=Dense(width=4 * d, bias=True))
        grid = int(plain[3]) // side
        patches, layers = Patches(side=side, channels=channels), keys.alike(layer, count)
        whole = keys.imaging(c, layers, _HEADS, hidden=d, positions=grid * grid + 1, patches=patches)
    else:
        deep, first = name in RESNETS and RESNETS[name].deep, name in REPVITS and REPVITS[name].first
        stages = resnet(RESNETS[name], asked.last) if name in RESNETS else repvit(REPVITS[name], asked.last)
        switches = {"repvit": name in REPVITS, "deep": deep, "first": first, "features": asked.features}
        hidden = stages[-1].layer.width if stages else keys.sized("d0", STEM)
        traits = {**switches, "num_channels": channels}
        whole = keys.imaging(c, stages, _HEADS, hidden=hidden, traits=traits, uncounted=keys.COARSER)
    if asked.features and whole.head != "base":
        raise UnknownArchitecture(f"{c.where}: a model of timm that gives features has no classes.")
    return whole.but(labels=_labels(c))


def _labels(c: Config) -> int:
    """The width of the head. Within another model the reference does not take it from num_classes."""
    if not c.nested:
        return c.int("num_classes", "num_labels", minimum=0)
    names = c.length("label_names")
    if names is None or c.given("id2label") or c.given("num_labels"):
        return labels(c, 2)
    return Dim.named("label_names", names, c.path("label_names"))


def blueprint(s: Spec) -> Block:
    of, head = s.traits, classifier(s) if s.labels and s.head != "base" else None
    if "perception" in of or "fast" in of:
        tower = timm_towers.perception_encoder if "perception" in of else timm_towers.fast_vit
        return block(timm_model=tower(s, head))
    parts: dict[str, Node]
    if s.patches is not None:
        parts, name = timm.vit(s), "head"
    elif of["repvit"]:
        parts, name = timm.repvit(s.layers, of["num_channels"], bool(of["first"]), bool(of["features"])), ""
        normed = block("other", bn=batch_norm(s.hidden), l=head)
        parts |= {"head": block(head=normed, head_dist=normed)} if head else {}
    else:
        parts, name = timm.resnet(s.layers, of["num_channels"], keys.sized("d0", STEM), bool(of["deep"])), "fc"
    return block(timm_model=Block({**parts, **({name: head} if head and name else {})}))
