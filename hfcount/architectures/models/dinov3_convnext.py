"""DINOv3's ConvNeXt (arXiv:2508.10104, arXiv:2201.03545)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("dinov3_convnext",)  # transformers 5.23: modeling_dinov3_convnext.py
IGNORED = ("image_size", "out_indices")
SPELLINGS = {r"^stages\.": "model.stages."}

_HEADS = keys.named(("Model",), Backbone="backbone")


class Dinov3Convnext(Sizes):
    num_channels: int = size("C")


def spec(c: Config) -> Spec[Dinov3Convnext]:
    widths, depths = c.ints("hidden_sizes", default=(96, 192, 384, 768)), c.ints("depths", default=(3, 3, 9, 3))
    layers = keys.stages(c, widths, depths=depths)
    d = layers[-1].layer.width
    sizes = Dinov3Convnext.read(c)
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[Dinov3Convnext]) -> Block:
    stages, before = dict[str, Block](), s.own.num_channels
    for number, part in enumerate(s.layers):
        d = part.layer.width
        if number:
            coarser = {"0": layer_norm(before), "1": conv(before, d, 2, bias=True)}
        else:
            coarser = {"0": conv(before, d, 4, bias=True), "1": layer_norm(d)}
        stages[str(number)] = block(downsample_layers=Block(coarser), layers=stack((part,), _layer))
        before = d
    norm = None if s.head == "backbone" else layer_norm(s.hidden)
    return block(stages=Block(stages), layer_norm=norm)


def _layer(layer: Layer) -> Block:
    d = layer.width
    wide = 4 * d
    return block(
        depthwise_conv=depthwise(d, 7, bias=True),
        layer_norm=layer_norm(d),
        pointwise_conv1=Linear(d, wide, True, "mlp"),
        pointwise_conv2=Linear(wide, d, True, "mlp"),
        gamma=Tensor((d,)),
    )
