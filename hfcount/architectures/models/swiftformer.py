"""SwiftFormer: stages of convolutions, each ended by additive attention (arXiv:2303.15446)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("swiftformer",)  # transformers 5.23: modeling_swiftformer.py
IGNORED = ("image_size", "down_stride", "down_pad")

_HEADS = ("ForImageClassification", "Model")


class SwiftformerLayer(Record):
    """Sizes specific to a layer of SwiftFormer: whether a coarser image follows its stage."""

    followed: bool


class Swiftformer(Sizes):
    num_channels: int = size("C")
    down_patch_size: int = size("P")
    use_layer_scale: bool = flag(absent=True)


def spec(c: Config) -> Spec[Swiftformer]:
    depths = c.ints("depths")
    count = len(depths)
    widths, coarser = keys.each(c, "embed_dims", count, "d"), c.entries("downsamples")[: count - 1]
    if len(coarser) < count - 1 or min(depths, default=0) < 1:
        raise c.error(
            "list-length", f"depths names {count:,} stages of 1 layer and more, and downsamples fewer.", "downsamples"
        )
    follows = [bool(given) or widths[n] != widths[n + 1] for n, given in enumerate(coarser)]
    sizes = [SwiftformerLayer(followed=last) for last in (*follows, False)]
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), own=sizes)
    model_sizes = Swiftformer.read(c)
    d = keys.dim("d", c.ints("embed_dims")[-1])
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[Swiftformer]) -> Block:
    of, network, first = s.own, dict[str, Block](), s.layers[0].layer.width
    for number, part in enumerate(s.layers):
        layer, last = part.layer, part.indices.count - 1
        d = layer.width
        final = Repeat(Indices.of((int(last),)), _attending(layer, of.use_layer_scale))
        before = (Repeat(Indices.below(last), _convolved(d, layer.dense.width)),) if last > 0 else ()
        network[str(len(network))] = block(blocks=(*before, final))
        if layer.sizes(SwiftformerLayer).followed:
            after = s.layers[number + 1].layer.width
            coarser = block(proj=conv(d, after, of.down_patch_size, bias=True), norm=batch_norm(after))
            network[str(len(network))] = coarser
    channels, half = of.num_channels, first // 2
    steps = {"0": conv(channels, half, 3, bias=True), "1": batch_norm(half)}
    steps |= {"3": conv(half, first, 3, bias=True), "4": batch_norm(first)}
    body = block(patch_embed=block(patch_embedding=Block(steps)), encoder=block(network=Block(network)))
    labels = block(norm=batch_norm(s.hidden), head=classifier(s), dist_head=classifier(s))
    return headed(s, "swiftformer", body, image_classification=labels)


def _convolved(d: int, wide: int) -> Block:
    return block(
        depth_wise_conv=depthwise(d, 3, bias=True),
        norm=batch_norm(d),
        point_wise_conv1=conv(d, wide, 1, bias=True),
        point_wise_conv2=conv(wide, d, 1, bias=True),
        layer_scale=Tensor((d, 1, 1)),
    )


def _attending(layer: Layer, scaled: bool) -> Block:
    d, wide = layer.width, layer.dense.width
    square, scale = Linear(d, d, True), Tensor((d, 1, 1)) if scaled else None
    mixer = block("attention", to_query=square, to_key=square, w_g=Tensor((d, 1)), proj=square, final=square)
    network = block("mlp", norm1=batch_norm(d), fc1=conv(d, wide, 1, bias=True), fc2=conv(wide, d, 1, bias=True))
    local = _convolved(d, d)
    return block(local_representation=local, attn=mixer, linear=network, layer_scale_1=scale, layer_scale_2=scale)
