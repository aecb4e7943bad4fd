"""Models of timm whose name settles how they are built: ViTs, ResNets, RepViTs, FastViTs (arXiv:2010.11929)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from hfcount.architectures import keys
from hfcount.architectures.components.fast_vit import FAST_VITS, FastViT, fast_vit
from hfcount.architectures.components.perception_encoder import (
    PERCEPTION_ENCODERS,
    PerceptionEncoder,
    perception_encoder,
)
from hfcount.architectures.components.repvit import REPVITS, RepViT
from hfcount.architectures.components.resnets import RESNETS, ResNet
from hfcount.architectures.components.timm.arguments import UNCOUNTED, Listed, arguments, form, image_size, listed
from hfcount.architectures.components.timm.catalogue import TimmSizes
from hfcount.architectures.components.timm.names import COLOURS
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.model import labels
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Patches, Record, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, Node, Tensor, block

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


class Vit(Record):
    """A plain ViT, which has no sizes but those that every tower has."""


Network = Vit | ResNet | RepViT | PerceptionEncoder | FastViT | Listed


class _Asked(NamedTuple):
    """What model_args asks of timm: whether only features, how many stages up to the last of them, which channels."""

    features: bool
    last: int
    channels: int


def _asked(c: Config, stem: int, stages: int) -> _Asked:
    """By model_args; features count from those of the `stem`, if it gives any, and what comes after them is not built.

    A model without `stages` gives none.

    Raises:
        UnknownArchitecture: it asks for something else.
        ConfigError: it names features that are not there.
    """
    given: Mapping[str, object] = c.object("model_args") or {}
    inner, count = c.part("model_args"), stem + stages
    features, channels = inner.bool("features_only", default=False), inner.int("in_chans", default=3)
    known = {"in_chans", "features_only", *(["out_indices"] if features else [])}
    if given.keys() - known or (features and not stages):
        text = "of what model_args may ask of timm, in_chans is described, and the features of networks in stages."
        raise UnknownArchitecture(f"{c.where}: {text}")
    if not features:
        return _Asked(features, stages, channels)
    places = inner.ints("out_indices", default=range(count), least=1)
    if any(not -count <= place < count for place in places):
        raise inner.error("out-of-range", f"out_indices must be below {count}.", "out_indices")
    return _Asked(features, max(int(place) % count for place in places) + 1 - stem, channels)


def spec(c: Config) -> Spec[Network]:
    name = c.str("architecture").partition(".")[0]  # without the name of its weights
    if name in PERCEPTION_ENCODERS:
        return perception_encoder(c, name, _HEADS).replace(labels=_labels(c))
    if name in FAST_VITS:
        return fast_vit(c, name, _HEADS).replace(labels=_labels(c))
    plain = re.fullmatch("(?:vit|deit)_(tiny|small|base|large|huge)_patch(8|14|16|32)_(224|384)", name)
    if (not plain and name not in RESNETS and name not in REPVITS) or _beyond(c):
        return _listed(c, name).replace(labels=_labels(c))
    asked = _asked(c, int(name in RESNETS), 0 if plain else 4)
    body = _plain(c, plain, asked) if plain else _staged(c, name, asked)
    if asked.features and body.head != "base":
        raise UnknownArchitecture(f"{c.where}: a model of timm that gives features has no classes.")
    return body.replace(labels=_labels(c))


def _beyond(c: Config) -> bool:
    """Whether model_args asks for what the list of models tells, and the name alone does not."""
    return any(key not in ("in_chans", "features_only", "out_indices") for key in c.object("model_args") or {})


def _listed(c: Config, name: str) -> Spec[Listed]:
    """A model that is known by what timm builds of its name.

    Raises:
        UnknownArchitecture: timm has none of that name, or what model_args asks of it is not recorded.
        ConfigError: model_args gives what the class gives itself.
    """
    model = listed(c, name)
    if "num_classes" in (c.object("model_args") or {}):
        text = "model_args gives num_classes, which transformers gives as well, so it cannot build the model."
        raise c.error("contradiction", text, "model_args.num_classes", "Remove it from model_args.")
    args = arguments(c, name, model)
    tag = c.str("architecture").partition(".")[2]
    chosen = form(args, name, model, image_size(args) or model.native.get(tag) or model.native.get(""))
    sizes = TimmSizes(0, keys.dim("C", args.int("in_chans", default=COLOURS, minimum=1)), chosen.patches)
    tower = keys.imaging(c, (), _HEADS, hidden=0, uncounted=UNCOUNTED)
    return tower.having(Listed(name=name, root=chosen.root, sizes=sizes))


def _plain(c: Config, named: re.Match[str], asked: _Asked) -> Spec[Network]:
    """A plain ViT, by the size, the side of a patch and of an image in its name."""
    width, heads, count = _VITS[named[1]]
    d, side = keys.dim("d", width), keys.dim("P", int(named[2]))
    layer = Layer(mixer=keys.multi_head(c, d, heads), ffn=Dense(width=4 * d, bias=True))
    grid = int(named[3]) // side
    patches, layers = Patches(side=side, channels=keys.dim("C", asked.channels)), keys.uniform(layer, count)
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=grid * grid + 1, patches=patches).having(Vit())


def _staged(c: Config, name: str, asked: _Asked) -> Spec[Network]:
    """A ResNet or a RepViT, of the stages that are asked for."""
    if name in RESNETS:
        network = ResNet.known(RESNETS[name], asked.channels)
        stages = RESNETS[name].layers(asked.last)
        hidden = stages[-1].layer.width if stages else network.stem
        return keys.imaging(c, stages, _HEADS, hidden=hidden, uncounted=keys.COARSER).having(network)
    known, channels = REPVITS[name], keys.dim("C", asked.channels)
    stages = known.layers(asked.last)
    model = keys.imaging(c, stages, _HEADS, hidden=stages[-1].layer.width, uncounted=keys.COARSER)
    return model.having(RepViT(first=known.first, features=asked.features, num_channels=channels))


def _labels(c: Config) -> int:
    """The width of the head. Within another model the reference does not take it from num_classes."""
    if not c.nested:
        return c.int("num_classes", "num_labels", minimum=0)
    names = c.length("label_names")
    if names is None or c.given("id2label") or c.given("num_labels"):
        return labels(c, 2)
    return Dim.named("label_names", names, c.path("label_names"))


def blueprint(s: Spec[Network]) -> Block:
    sizes, head = s.own, classifier(s) if s.labels and s.head != "base" else None
    if isinstance(sizes, Listed):
        return block(timm_model=sizes.tensors(0 if s.head == "base" else keys.dim("c", s.labels)))
    if isinstance(sizes, PerceptionEncoder | FastViT):
        return block(timm_model=sizes.tensors(s, head))
    named = {"fc" if isinstance(sizes, ResNet) else "head": head} if head else {}
    parts: dict[str, Node]
    if isinstance(sizes, Vit):
        parts = _vit(s)
    elif isinstance(sizes, ResNet):
        parts = sizes.tensors(s.layers)
    else:
        parts, normed = sizes.tensors(s.layers), block("other", bn=batch_norm(s.hidden), l=head)
        return block(timm_model=Block({**parts, **({"head": block(head=normed, head_dist=normed)} if head else {})}))
    return block(timm_model=Block({**parts, **named}))


def _vit(s: Spec[Network]) -> dict[str, Node]:
    """A plain ViT, as timm names it."""
    d, norm = s.hidden, layer_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        return block(norm1=norm, attn=fused_square_attention(d), norm2=norm, mlp=mlp(d, layer.dense.width))

    return {
        "cls_token": Tensor((1, 1, d), component="embedding"),
        "pos_embed": Tensor((1, s.positions or 0, d), component="embedding"),
        "patch_embed": block(proj=patch_convolution(s)),
        "blocks": stack(s.layers, layer_block),
        "norm": norm,
    }
