"""Swin version 2: cosine attention within windows, positions by a small network (arXiv:2111.09883)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.vision import cosine_layer, patch_convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("swinv2",)  # transformers 5.23: modeling_swinv2.py
IGNORED = ("out_indices", "num_layers", "hidden_size", "pretrained_window_sizes")

_HEADS = keys.named(("ForImageClassification", "Model"), ForMaskedImageModeling="masked_image", Backbone="backbone")


class Swinv2Layer(Record):
    """Sizes specific to a layer of Swin version 2: the side of its windows."""

    window: int


class Swinv2(Sizes):
    encoder_stride: int = size("S", absent=32)


def spec(c: Config) -> Spec[Swinv2]:
    first, stages, side = c.int("embed_dim"), c.length("depths") or 0, keys.grid(c)
    heads = keys.each(c, "num_heads", stages)
    widths = [first * 2 ** min(number, 32) for number in range(len(heads))]
    window = c.int("window_size")
    # No window is wider than what its stage sees.
    sizes = [
        Swinv2Layer(
            window=Dim.named(f"w{number + 1}", min(window, side >> min(number, 32)), "window_size, or the whole image")
        )
        for number in range(len(heads))
    ]
    bias = c.bool("qkv_bias", default=True)
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), heads, bias=bias, own=sizes)
    model_sizes = Swinv2.read(c)
    rows = side * side + 1 if c.bool("use_absolute_embeddings", default=False) else None
    d, patches, why = layers[-1].layer.width, keys.patches(c), keys.COARSER
    model = keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=patches, uncounted=why)
    return model.having(model_sizes)


def blueprint(s: Spec[Swinv2]) -> Block:
    first, d, stages = s.layers[0].layer.width, s.hidden, dict[str, Block]()
    for number, part in enumerate(s.layers):
        width = part.layer.width
        coarser = block("other", reduction=Linear(4 * width, 2 * width), norm=layer_norm(2 * width))
        blocks = stack((part,), lambda layer: cosine_layer(layer.width, layer, layer.sizes(Swinv2Layer).window))
        stages[str(number)] = block(blocks=blocks, downsample=coarser if number < len(s.layers) - 1 else None)
    embeddings = block(
        "embedding",
        patch_embeddings=block(projection=patch_convolution(s, width=first)),
        position_embeddings=Tensor((1, s.positions, first)) if s.positions else None,
        mask_token=Tensor((1, 1, first)) if s.head == "masked_image" else None,
        norm=layer_norm(first),
    )
    norm, stride = None if s.head == "backbone" else layer_norm(d), s.own.encoder_stride
    body = block(embeddings=embeddings, encoder=block(layers=Block(stages)), layernorm=norm)
    pixels = stride * stride * s.seen.channels
    image = {"0": block("other", weight=Tensor((pixels, d, 1, 1)), bias=Tensor((pixels,)))}
    heads = {"masked_image": block(decoder=Block(image)), "image_classification": block(classifier=classifier(s))}
    return headed(s, "swinv2", body, **heads)
