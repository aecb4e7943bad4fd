"""CvT: attention whose queries, keys and values are convolved before they are projected (arXiv:2103.15808)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, normed
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import vit_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.dims import scaled
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("cvt",)  # transformers 5.23: modeling_cvt.py
IGNORED = tuple("patch_stride patch_padding padding_kv stride_kv padding_q stride_q drop_rate drop_path_rate".split())

_HEADS = ("ForImageClassification", "Model")


class CvtLayer(Record):
    """Sizes specific to a layer of CvT: kernels, and whether projections have biases, a token or convolutions."""

    kernel: int
    patch_size: int
    biased: bool
    token: bool
    convolved: bool


class Cvt(Sizes):
    num_channels: int = size("C")


def spec(c: Config) -> Spec[Cvt]:
    depths = c.ints("depth")
    count = len(depths)
    widths, ratios = keys.each(c, "embed_dim", count, "d"), c.entries("mlp_ratio")[:count]
    biases, tokens, ways = (c.entries(name)[:count] for name in ("qkv_bias", "cls_token", "qkv_projection_method"))
    fitting = all(len(given) == count for given in (ratios, biases, tokens, ways))
    if not fitting or any(type(ratio) not in (int, float) for ratio in ratios):
        raise c.error(
            "list-length",
            f"depth names {count:,} stages, and other lists do not fit that.",
            "depth",
            "Correct one of them.",
        )
    wide = [scaled(ratio, f"mlp_ratio[{n}]", d) for n, (ratio, d) in enumerate(zip(ratios, widths, strict=True))]
    kernels, sides = keys.each(c, "kernel_qkv", count, "w"), keys.each(c, "patch_sizes", count, "P")
    sizes = [
        CvtLayer(kernel=kernel, patch_size=side, biased=bool(biased), token=bool(token), convolved=way == "dw_bn")
        for kernel, side, biased, token, way in zip(kernels, sides, biases, tokens, ways, strict=True)
    ]
    heads = keys.each(c, "num_heads", count)
    layers = keys.stages(c, widths, wide, heads, indivisible="built", depths=depths, own=sizes)
    model_sizes, d = Cvt.read(c), keys.dim("d", c.ints("embed_dim")[-1])
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[Cvt]) -> Block:
    before, stages = s.own.num_channels, dict[str, Block]()
    for number, part in enumerate(s.layers):
        of = part.layer.sizes(CvtLayer)
        d = part.layer.width
        embedding = block(
            "embedding", projection=conv(before, d, of.patch_size, bias=True), normalization=layer_norm(d)
        )
        stages[str(number)] = block(
            embedding=block(convolution_embeddings=embedding),
            cls_token=Tensor((1, 1, s.hidden), component="embedding") if of.token else None,
            layers=stack((part,), _layer),
        )
        before = d
    labels = block(layernorm=layer_norm(s.hidden), classifier=classifier(s))
    return headed(s, "cvt", block(encoder=block(stages=Block(stages))), image_classification=labels)


def _layer(layer: Layer) -> Block:
    d, of = layer.width, layer.sizes(CvtLayer)
    mixed = block(convolution_projection=normed(d, d, of.kernel, groups=d)) if of.convolved else None
    into, names = Linear(d, d, of.biased), ("query", "key", "value")
    projections = block(
        **{f"convolution_projection_{name}": mixed for name in names}, **{f"projection_{name}": into for name in names}
    )
    attention = block("attention", attention=projections, output=block(dense=Linear(d, d, True)))
    return altered(vit_layer(d, layer), attention=attention)
