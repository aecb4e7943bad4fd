"""MobileViTV2: MobileViT with linear attention, all of it scaled by one factor (arXiv:2206.02680)."""

from hfcount.architectures import keys
from hfcount.architectures.components.inverted import Neck
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, normed
from hfcount.architectures.layers.segmentation import deeplab
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("mobilevitv2",)  # transformers 5.23: modeling_mobilevitv2.py
IGNORED = ("image_size", "patch_size", "output_stride", "atrous_rates", "semantic_loss_ignore_index")

_HEADS = keys.named(("ForImageClassification", "Model"), ForSemanticSegmentation="semantic_segmentation")
_CHANNELS = (32, 64, 128, 256, 384, 512)  # before they are scaled


class MobileViTV2(Sizes):
    num_channels: int
    conv_kernel_size: int = size("w")
    aspp_out_channels: int = size("d_a")
    necks: tuple[Neck, ...]


def spec(c: Config) -> Spec[MobileViTV2]:
    factor, _ = c.number("width_multiplier"), c.number("expand_ratio")
    depths, channels = keys.each(c, "n_attn_blocks", 3), c.int("num_channels")

    def scaled(symbol: str, base: int, step: int = 8) -> int:
        given = base.source if isinstance(base, Dim) else base
        return keys.derived_dim(
            c, symbol, keys.rounded(base * factor, step), f"{given} · {{width_multiplier}}, {keys.channels(step)}"
        )

    units = keys.each(c, "base_attn_unit_dims", 3)
    widths = [scaled(f"d{number}", base) for number, base in enumerate(units, 1)]
    wide = c.int("ffn_multiplier")
    networks = [
        keys.derived_dim(c, f"d_ff{n}", int(wide * d // 16 * 16), f"({{ffn_multiplier}} · d{n} / 16) · 16")
        for n, d in enumerate(widths, 1)
    ]
    layers = keys.stages(c, widths, networks, depths=depths)
    necks = list[Neck]()
    for number, base in enumerate(_CHANNELS):
        neck = scaled(f"C{number}", base, 16 if number == 1 else 8)
        if not number:  # the first is kept between 16 and 64
            first = keys.rounded(max(16, min(64, base * factor)), 8, 16)
            neck = keys.derived_dim(
                c, "C0", first, f"{base} · {{width_multiplier}}, at most 64, at least 16, {keys.channels(8, 16)}"
            )
        necks.append(Neck.read(c, number, neck))
    sizes = MobileViTV2.read(c, num_channels=keys.dim("C", channels), necks=tuple(necks))
    return keys.imaging(c, layers, _HEADS, hidden=necks[-1].width, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[MobileViTV2]) -> Block:
    of, necks = s.own, [neck.width for neck in s.own.necks]

    def narrowed(number: int, after: int) -> Block:
        return of.necks[number].tensors(necks[after])

    second = (Repeat(Indices.below(1), narrowed(1, 2)), Repeat(Indices.of((1,)), narrowed(2, 2)))
    layers = {"0": block(layer=Repeat(Indices.below(1), narrowed(0, 1))), "1": block(layer=second)}
    for number, part in enumerate(s.layers, 2):
        d, neck = part.layer.width, necks[number + 1]
        layers[str(number)] = block(
            downsampling_layer=narrowed(number, number + 1),
            conv_kxk=normed(neck, neck, of.conv_kernel_size, groups=neck),
            conv_1x1=block(convolution=conv(neck, d, 1)),
            transformer=block(layer=stack((part,), _layer)),
            layernorm=layer_norm(d),
            conv_projection=normed(d, neck, 1),
        )
    body = block(conv_stem=normed(of.num_channels, necks[0], 3), encoder=block(layer=Block(layers)))
    places = deeplab(necks[-1], of.aspp_out_channels, s.labels)
    labels = block(classifier=classifier(s))
    heads = {"image_classification": labels, "semantic_segmentation": block(segmentation_head=places)}
    return headed(s, "mobilevitv2", body, **heads)


def _layer(layer: Layer) -> Block:
    d, wide = layer.width, layer.dense.width
    # One score for each place, and keys and values.
    attention = block("linear_attention", qkv_proj=_linear(d, 1 + 2 * d), out_proj=_linear(d, d))
    network = block("mlp", conv1=_linear(d, wide), conv2=_linear(wide, d))
    norm = layer_norm(d)
    return block(layernorm_before=norm, attention=attention, layernorm_after=norm, ffn=network)


def _linear(inputs: int, outputs: int) -> Block:
    return block(convolution=conv(inputs, outputs, 1, bias=True))
