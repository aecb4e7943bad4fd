"""FocalNet: stages that modulate each place by its surroundings, instead of attention (arXiv:2203.11926)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("focalnet",)  # transformers 5.23: modeling_focalnet.py
IGNORED = ("image_size", "hidden_sizes", "out_indices", "use_post_layernorm", "normalize_modulator")

_HEADS = keys.named(("ForImageClassification", "Model"), ForMaskedImageModeling="masked_image", Backbone="backbone")
_MOST = 64  # levels of focus, each of which has a wider kernel


class FocalnetLayer(Record):
    """Sizes specific to a layer of FocalNet: levels of focus, and the width of the first kernel."""

    level: int
    window: int


class Focalnet(Sizes):
    encoder_stride: int = size("S", absent=32)
    use_conv_embed: bool = flag(absent=False)
    use_layerscale: bool = flag(absent=False)
    use_post_layernorm_in_modulation: bool = flag(absent=False)


def spec(c: Config) -> Spec[Focalnet]:
    first, depths = c.int("embed_dim"), c.ints("depths")
    widths = [first * 2 ** min(number, 32) for number in range(len(depths))]
    levels, windows = keys.each(c, "focal_levels", len(depths)), keys.each(c, "focal_windows", len(depths), "w")
    if any(not 0 <= level <= _MOST for level in levels):
        raise c.error("out-of-range", f"focal_levels must name 0 to {_MOST}.", "focal_levels")
    sizes = [FocalnetLayer(level=level, window=window) for level, window in zip(levels, windows, strict=True)]
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), own=sizes)
    model_sizes = Focalnet.read(c)
    d, patches = layers[-1].layer.width, keys.patches(c)
    return keys.imaging(c, layers, _HEADS, hidden=d, patches=patches, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[Focalnet]) -> Block:
    of, d, stages = s.own, s.hidden, dict[str, Block]()
    first = s.layers[0].layer.width

    def layer_block(layer: Layer) -> Block:
        width, norm, sizes = layer.width, layer_norm(layer.width), layer.sizes(FocalnetLayer)
        scale = Tensor((width,)) if of.use_layerscale else None
        focal = {str(level): Block({"0": depthwise(width, 2 * level + sizes.window)}) for level in range(sizes.level)}
        modulation = block(
            projection_in=Linear(width, 2 * width + sizes.level + 1, True, "convolution"),
            projection_context=conv(width, width, 1, bias=True),
            projection_out=Linear(width, width, True, "convolution"),
            focal_layers=Block(focal),
            layernorm=norm if of.use_post_layernorm_in_modulation else None,
        )
        network = mlp(width, layer.dense.width)
        return block(norm1=norm, modulation=modulation, norm2=norm, mlp=network, gamma_1=scale, gamma_2=scale)

    def patches(inputs: int, outputs: int, side: int) -> Block:
        return Block(conv(inputs, outputs, side, bias=True).children, "embedding")

    for number, part in enumerate(s.layers):
        width, last = part.layer.width, number == len(s.layers) - 1
        after = d if last else s.layers[number + 1].layer.width
        coarser = block(projection=patches(width, after, 3 if of.use_conv_embed else 2), norm=layer_norm(after))
        stages[str(number)] = block(layers=stack((part,), layer_block), downsample=None if last else coarser)
    side = 7 if of.use_conv_embed else s.seen.side
    embeddings = block(
        "embedding",
        patch_embeddings=block(projection=patches(s.seen.channels, first, side)),
        mask_token=Tensor((1, 1, first)) if s.head == "masked_image" else None,
        norm=layer_norm(first),
    )
    body = block(embeddings=embeddings, encoder=block(stages=Block(stages)), layernorm=layer_norm(d))
    if s.head == "backbone":
        return block(focalnet=body)
    pixels = of.encoder_stride * of.encoder_stride * s.seen.channels
    image = {"0": block("other", weight=Tensor((pixels, d, 1, 1)), bias=Tensor((pixels,)))}
    heads = {"masked_image": block(decoder=Block(image)), "image_classification": block(classifier=classifier(s))}
    return headed(s, "focalnet", body, **heads)
