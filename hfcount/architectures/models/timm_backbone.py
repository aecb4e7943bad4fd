"""ResNet and Swin as timm builds and names them, from the name alone (arXiv:1512.03385, arXiv:2103.14030)."""

from hfcount.architectures import keys
from hfcount.architectures.components.resnets import RESNETS, KnownResNet, ResNet
from hfcount.architectures.components.timm.names import SWINS, KnownSwin
from hfcount.architectures.layers import altered, layer_norm, mlp, stack
from hfcount.architectures.layers.convolution import frozen
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Layer, Patches, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import printable

# transformers 5.23: modeling_timm_backbone.py
MODEL_TYPES = ("timm_backbone",)  # its names are those of timm 1.0, models/resnet.py
IGNORED = ("output_stride", "stage_names", "img_size", "always_partition")

_STAGES, _SIDE = 4, 4  # how many stages there are, and the side of a patch


class Swin(Record):
    window_size: int


class FrozenResNet(Record):
    """A ResNet, and whether its batch normalisation no longer learns."""

    network: ResNet
    freeze_batch_norm_2d: bool


class TimmBackbone(Record):
    """Sizes specific to a backbone of timm; `wrapped` says whether it is a whole model, not a part of another."""

    network: Swin | FrozenResNet
    wrapped: bool


def spec(c: Config) -> Spec[TimmBackbone]:
    name = c.str("backbone")
    stem, features = name.rpartition("/")[2].partition(".")[0], c.bool("features_only", default=True)
    if not features or stem not in {*RESNETS, *SWINS}:
        raise UnknownArchitecture(
            f"{c.where}: backbone {printable(name, 60)} is a model of timm, of which only these are described, as they"
            f" give features: {', '.join((*RESNETS, *SWINS))}."
        )
    return _swin_features(c, SWINS[stem]) if stem in SWINS else _resnet_features(c, RESNETS[stem])


def _swin_features(c: Config, known: KnownSwin) -> Spec[TimmBackbone]:
    """A Swin of timm that gives features; stages behind the last one asked for are not built."""
    places = c.ints("out_indices", default=(-1,), least=1)
    positive = [place % _STAGES for place in places]
    if positive != sorted(set(positive)) or any(not -_STAGES <= place < _STAGES for place in places):
        text = f"out_indices may name -{_STAGES} to {_STAGES - 1}, each once and in order."
        raise c.error("out-of-range", text, "out_indices", "Correct it.")
    count = positive[-1] + 1
    widths = [known.width * 2**number for number in range(count)]
    heads, depths = [known.heads * 2**number for number in range(count)], [2, 2, known.third, 2]
    layers = keys.stages(c, widths, lambda d: 4 * d, heads, depths=depths)
    window = keys.dim("w", known.window)
    sizes = TimmBackbone(network=Swin(window_size=window), wrapped=not c.nested)
    patches = Patches(side=keys.dim("P", _SIDE), channels=c.int("num_channels", default=3))
    d = layers[-1].layer.width
    model = keys.encoding(c, layers, {"Backbone": "base"}, hidden=d, patches=patches)
    return model.replace(features=tuple(layer.layer.width for layer in layers)).having(sizes)


def _resnet_features(c: Config, known: KnownResNet) -> Spec[TimmBackbone]:
    """A ResNet of timm that gives features; stages behind the last one asked for are not built."""
    chosen = c.ints("out_indices", default=(-1,))
    layers = known.layers(max((place % 5 for place in chosen), default=4))
    fixed = c.bool("freeze_batch_norm_2d", default=False)
    network = ResNet.known(known, c.int("num_channels", default=3))
    sizes = TimmBackbone(network=FrozenResNet(network=network, freeze_batch_norm_2d=fixed), wrapped=not c.nested)
    widths = [network.stem, *(layer.layer.width for layer in layers)]
    model = keys.encoding(c, layers, {"Backbone": "base"}, hidden=widths[-1])
    return model.replace(features=tuple(widths)).having(sizes)


def blueprint(s: Spec[TimmBackbone]) -> Block:
    network = s.own.network
    features = _swin(s, network.window_size) if isinstance(network, Swin) else _resnet(s, network)
    return block(_backbone=features) if s.own.wrapped else features


def _resnet(s: Spec[TimmBackbone], of: FrozenResNet) -> Block:
    parts = of.network.tensors(s.layers)
    return Block({name: frozen(part) for name, part in parts.items()} if of.freeze_batch_norm_2d else parts)


def _swin(s: Spec[TimmBackbone], window: int) -> Block:
    """Swin as it gives features (models/swin_transformer.py)."""
    first, side = s.layers[0].layer.width, 2 * window - 1
    children = {"patch_embed": block("embedding", proj=patch_convolution(s, width=first), norm=layer_norm(first))}

    def layer_block(layer: Layer) -> Block:
        d, norm = layer.width, layer_norm(layer.width)
        table = Tensor((side * side, layer.attention.heads))
        attention = altered(fused_square_attention(d), relative_position_bias_table=table)
        return block(norm1=norm, attn=attention, norm2=norm, mlp=mlp(d, layer.dense.width))

    for number, part in enumerate(s.layers):
        d = part.layer.width
        coarser = block("other", norm=layer_norm(2 * d), reduction=Linear(2 * d, d)) if number else None
        children[f"layers_{number}"] = block(downsample=coarser, blocks=stack((part,), layer_block))
    return Block(children)
