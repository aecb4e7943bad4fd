"""Models of timm whose name settles how they are built: ViTs, ResNets (arXiv:1512.03385), FastViTs (2303.14189)."""

import re

from hfcount import keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys.model import labels
from hfcount.keys.timm import FAST_VITS, PERCEPTION_ENCODERS, fast_vit, perception_encoder
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack, timm
from hfcount.parts.convolution import batch_norm, conv, led
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.text import printable
from hfcount.tree.dims import Dim
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block

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
_RESNETS = {
    "resnet18": (False, (2, 2, 2, 2)),
    "resnet34": (False, (3, 4, 6, 3)),
    "resnet50": (True, (3, 4, 6, 3)),
    "resnet101": (True, (3, 4, 23, 3)),
    "resnet152": (True, (3, 8, 36, 3)),
}
"""Whether a ResNet has bottlenecks, and the layers of its stages."""
_COLOURS, _STEM, _WIDER = 3, 64, 4


def spec(c: Config) -> Spec:
    name = c.str("architecture")
    if name in PERCEPTION_ENCODERS or name in FAST_VITS:
        read = perception_encoder if name in PERCEPTION_ENCODERS else fast_vit
        layers, fields = read(c, name)
        return keys.imaging(c, layers, _HEADS, **fields).but(labels=_labels(c))
    plain = re.fullmatch("(?:vit|deit)_(tiny|small|base|large|huge)_patch(8|14|16|32)_(224|384)", name)
    if c.object("model_args") or (not plain and name not in _RESNETS):
        raise UnknownArchitecture(
            f"{c.where}: {printable(name, 60)} is a model of timm, and its config does not tell how it is built."
            f" Described are {', '.join(_RESNETS)} and ViTs such as vit_base_patch16_224, all without model_args, and"
            f" {', '.join((*PERCEPTION_ENCODERS, *FAST_VITS))}."
        )
    d: int
    if plain:
        width, heads, count = _VITS[plain[1]]
        d, side = keys.sized("d", width), keys.sized("P", int(plain[2]))
        layer = Layer(mixer=keys.multi_head(c, d, heads), ffn=Dense(width=4 * d, bias=True))
        grid = int(plain[3]) // side
        patches, layers = Patches(side=side, channels=_COLOURS), keys.alike(layer, count)
        whole = keys.imaging(c, layers, _HEADS, hidden=d, positions=grid * grid + 1, patches=patches)
    else:
        deep, depths = _RESNETS[name]
        widths = [_STEM * 2**number * (_WIDER if deep else 1) for number in range(len(depths))]
        stages = keys.stages(c, widths, depths=depths)
        d = stages[-1].layer.traits["width"]
        whole = keys.imaging(c, stages, _HEADS, hidden=d, traits={"deep": deep}, uncounted=keys.COARSER)
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
    head = Linear(s.hidden, s.labels, True, "other") if s.labels and s.head != "base" else None
    if "perception" in s.traits or "fast" in s.traits:
        return block(
            timm_model=timm.perception_encoder(s, head) if "perception" in s.traits else timm.fast_vit(s, head)
        )
    if s.patches is None:
        return block(timm_model=Block({**_resnet(s), **({"fc": head} if head else {})}))
    d, norm = s.hidden, layer_norm(s.hidden)

    def layer(one: Layer) -> Block:
        return block(norm1=norm, attn=fused_square_attention(d), norm2=norm, mlp=mlp(d, one.dense.width))

    first, table = Tensor((1, 1, d), component="embedding"), Tensor((1, s.positions or 0, d), component="embedding")
    model = block(
        cls_token=first,
        pos_embed=table,
        patch_embed=block(proj=patch_convolution(s)),
        blocks=stack(s.layers, layer),
        norm=norm,
        head=head,
    )
    return block(timm_model=model)


def _resnet(s: Spec) -> dict[str, Node]:
    deep, before = bool(s.traits["deep"]), _STEM
    found: dict[str, Node] = {"conv1": conv(_COLOURS, _STEM, 7), "bn1": batch_norm(_STEM)}

    def layer(inputs: int, d: int, shortened: bool) -> Block:
        inner = d // _WIDER
        way = [(inputs, inner, 1), (inner, inner, 3), (inner, d, 1)] if deep else [(inputs, d, 3), (d, d, 3)]
        steps = dict[str, Node]()
        for number, (into, out, side) in enumerate(way, 1):
            steps |= {f"conv{number}": conv(into, out, side), f"bn{number}": batch_norm(out)}
        if shortened:
            steps["downsample"] = Block({"0": conv(inputs, d, 1), "1": batch_norm(d)})
        return Block(steps)

    for number, part in enumerate(s.layers):
        d = part.layer.traits["width"]
        first, rest = layer(before, d, deep or number > 0), layer(d, d, False)
        found[f"layer{number + 1}"] = led(part.indices.count, first, rest)
        before = d
    return found
