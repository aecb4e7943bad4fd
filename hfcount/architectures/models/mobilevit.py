"""MobileViT: inverted residuals, and attention between convolutions (arXiv:2110.02178)."""

from hfcount.architectures import keys
from hfcount.architectures.components.inverted import Neck
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, normed
from hfcount.architectures.layers.segmentation import deeplab
from hfcount.architectures.layers.vision import vit_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("mobilevit",)  # transformers 5.23: modeling_mobilevit.py
IGNORED = ("image_size", "patch_size", "output_stride", "atrous_rates", "semantic_loss_ignore_index")

_HEADS = keys.named(("ForImageClassification", "Model"), ForSemanticSegmentation="semantic_segmentation")
_DEPTHS = (2, 4, 3)


class MobileViT(Sizes):
    num_channels: int = size("C")
    conv_kernel_size: int = size("w")
    aspp_out_channels: int = size("d_a")
    necks: tuple[Neck, ...]


def spec(c: Config) -> Spec[MobileViT]:
    c.number("expand_ratio")  # which the necks read, too
    count = len(_DEPTHS)
    widths = keys.each(c, "hidden_sizes", count, "d")
    heads, bias = [c.int("num_attention_heads")] * count, c.bool("qkv_bias", default=True)
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), heads, bias=bias, depths=_DEPTHS)
    necks = keys.each(c, "neck_hidden_sizes", 2 * count + 1, "C")
    sizes = MobileViT.read(c, necks=tuple(Neck.read(c, number, neck) for number, neck in enumerate(necks, 1)))
    last = keys.dim("d", c.ints("neck_hidden_sizes")[-1])
    return keys.imaging(c, layers, _HEADS, hidden=last, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[MobileViT]) -> Block:
    of, side = s.own, s.own.conv_kernel_size
    necks = [neck.width for neck in of.necks]

    def narrowed(number: int, after: int) -> Block:
        return of.necks[number].tensors(necks[after])

    second = (Repeat(Indices.below(1), narrowed(1, 2)), Repeat(Indices.of((1, 2)), narrowed(2, 2)))
    layers = {"0": block(layer=Repeat(Indices.below(1), narrowed(0, 1))), "1": block(layer=second)}
    for number, part in enumerate(s.layers, 2):
        d, neck = part.layer.width, necks[number + 1]
        layers[str(number)] = block(
            downsampling_layer=narrowed(number, number + 1),
            conv_kxk=normed(neck, neck, side),
            conv_1x1=block(convolution=conv(neck, d, 1)),
            transformer=block(layer=stack((part,), lambda layer: vit_layer(layer.width, layer))),
            layernorm=layer_norm(d),
            conv_projection=normed(d, neck, 1),
            fusion=normed(2 * neck, neck, side),
        )
    body = block(
        conv_stem=normed(of.num_channels, necks[0], 3),
        encoder=block(layer=Block(layers)),
        conv_1x1_exp=None if s.head == "semantic_segmentation" else normed(necks[-2], necks[-1], 1),
    )
    places = deeplab(necks[-2], of.aspp_out_channels, s.labels)
    labels = block(classifier=classifier(s))
    heads = {"image_classification": labels, "semantic_segmentation": block(segmentation_head=places)}
    return headed(s, "mobilevit", body, **heads)
