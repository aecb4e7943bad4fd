"""DiNAT: stages of attention to neighbours, near and spread out (arXiv:2209.15001)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import backbones, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import vit_layer
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("dinat",)  # transformers 5.23: modeling_dinat.py
IGNORED = ("patch_size", "num_layers", "hidden_size", "dilations")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")


class DinatLayer(Record):
    """Sizes specific to a layer of DiNAT: whether its stage is given out."""

    shown: bool


class Dinat(Sizes):
    """Sizes specific to DiNAT; `stem` says whether what the stem makes is given out."""

    num_channels: int = size("C")
    kernel_size: int = size("w")
    scaled: bool = derived(lambda c: c.number("layer_scale_init_value", default=0.0, zero=True) > 0)
    stem: bool


def spec(c: Config) -> Spec[Dinat]:
    first, count = c.int("embed_dim"), len(c.ints("depths"))
    widths = [first * 2 ** min(number, 32) for number in range(count)]
    heads, bias = keys.each(c, "num_heads", count), c.bool("qkv_bias", default=True)
    vision_width = backbones.outputs(c, ["stem", *(f"stage{number + 1}" for number in range(count))])
    shown = [DinatLayer(shown=number + 1 in vision_width) for number in range(count)]
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), heads, bias=bias, own=shown)
    sizes, d = Dinat.read(c, stem=0 in vision_width), layers[-1].layer.width
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(sizes)


def blueprint(s: Spec[Dinat]) -> Block:
    of, first, levels, shown = s.own, s.layers[0].layer.width, dict[str, Block](), dict[str, Block]()
    side, half = 2 * of.kernel_size - 1, first // 2

    def layer_block(layer: Layer) -> Block:
        a, d = layer.attention, layer.width
        into = Linear(d, d, a.qkv_bias)
        projections = block(rpb=Tensor((a.heads, side, side)), query=into, key=into, value=into)
        attention = block("attention", self=projections, output=block(dense=Linear(d, d, True)))
        scale = Tensor((2, d)) if of.scaled else None
        return altered(vit_layer(d, layer), attention=attention, layer_scale_parameters=scale)

    if of.stem:
        shown["stem"] = layer_norm(first)
    for number, part in enumerate(s.layers):
        d = part.layer.width
        coarser = block(reduction=conv(d, 2 * d, 3), norm=layer_norm(2 * d))
        levels[str(number)] = block(
            layers=stack((part,), layer_block), downsample=coarser if number < len(s.layers) - 1 else None
        )
        if part.layer.sizes(DinatLayer).shown:
            shown[f"stage{number + 1}"] = layer_norm(d)
    steps = {"0": conv(of.num_channels, half, 3, bias=True), "1": conv(half, first, 3, bias=True)}
    embeddings = block("embedding", patch_embeddings=block(projection=Block(steps)), norm=layer_norm(first))
    body = block(embeddings=embeddings, encoder=block(levels=Block(levels)))
    if s.head == "backbone":
        return altered(body, hidden_states_norms=Block(shown))
    tree = altered(body, layernorm=layer_norm(s.hidden))
    return headed(s, "dinat", tree, image_classification=block(classifier=classifier(s)))
