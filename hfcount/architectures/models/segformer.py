"""SegFormer and GLPN: stages of attention to fewer, merged keys, then a head for every place (arXiv:2105.15203)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise
from hfcount.architectures.layers.segmentation import labelling
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("segformer", "glpn")  # transformers 5.23: modeling_segformer.py, modeling_glpn.py
IGNORED = ("strides", "reshape_last_stage", "semantic_loss_ignore_index", "max_depth", "head_in_index", "num_layers")
CONVERTED = ("segformer",)
SPELLINGS = {
    r"encoder\.patch_embeddings\.(\d+)\.": r"stages.\1.patch_embeddings.",
    r"encoder\.block\.(\d+)\.": r"stages.\1.blocks.",
    r"encoder\.layer_norm\.(\d+)\.": r"stages.\1.layer_norm.",
    **{rf"attention\.self\.{name}\.": f"attention.{name[0]}_proj." for name in ("query", "key", "value")},
    r"attention\.self\.sr\.": "attention.sequence_reduction.sequence_reduction.",
    r"attention\.self\.layer_norm\.": "attention.sequence_reduction.layer_norm.",
    r"attention\.output\.dense\.": "attention.o_proj.",
    r"mlp\.dense(\d)\.": r"mlp.fc\1.",
    r"layer_norm_1\.": "layernorm_before.",
    r"layer_norm_2\.": "layernorm_after.",
    r"decode_head\.linear_c\.": "decode_head.linear_projections.",
}

_HEADS = {
    "segformer": keys.named(("ForImageClassification", "Model"), ForSemanticSegmentation="semantic_segmentation"),
    "glpn": keys.named(("Model",), ForDepthEstimation="depth_estimation"),
}


class SegformerLayer(Record):
    """Sizes specific to a layer of SegFormer: the side of a patch, and that of places that make one key."""

    patch_size: int
    sr_ratio: int


class Segformer(Sizes):
    num_channels: int = size("C")


def spec(c: Config) -> Spec[Segformer]:
    count = c.int("num_encoder_blocks")
    widths = keys.each(c, "hidden_sizes", count, "d")
    wide = [d * ratio for d, ratio in zip(widths, keys.each(c, "mlp_ratios", count), strict=True)]
    heads, sides = keys.each(c, "num_attention_heads", count), keys.each(c, "patch_sizes", count, "P")
    merged = keys.each(c, "sr_ratios", count, "m")
    indivisible: keys.Indivisible = "run" if c.family == "segformer" else "refused"
    sizes = [SegformerLayer(patch_size=side, sr_ratio=step) for side, step in zip(sides, merged, strict=True)]
    layers = keys.stages(c, widths, wide, heads, indivisible=indivisible, own=sizes)
    model_sizes = Segformer.read(c)
    last, out = keys.dim("d", c.ints("hidden_sizes")[-1]), c.int("decoder_hidden_size")
    known = _HEADS[c.family]
    return keys.imaging(c, layers, known, hidden=last, out=out, uncounted=keys.COARSER).having(model_sizes)


def blueprint(s: Spec[Segformer]) -> Block:
    before, embeddings, stages, norms = (
        s.own.num_channels,
        dict[str, Block](),
        dict[str, Node](),
        dict[str, Block](),
    )
    widths = [part.layer.width for part in s.layers]
    for number, part in enumerate(s.layers):
        d = widths[number]
        projection = Block(
            conv(before, d, part.layer.sizes(SegformerLayer).patch_size, bias=True).children, "embedding"
        )
        embeddings[str(number)] = block(proj=projection, layer_norm=layer_norm(d))
        stages[str(number)] = stack((part,), _layer)
        norms[str(number)] = layer_norm(d)
        before = d
    encoder = block(patch_embeddings=Block(embeddings), block=Block(stages), layer_norm=Block(norms))
    return headed(
        s,
        s.family,
        block(encoder=encoder),
        image_classification=block(classifier=classifier(s)),
        semantic_segmentation=block(decode_head=_scores(s, widths)),
        depth_estimation=_depth(s, widths),
    )


def _layer(layer: Layer) -> Block:
    a, d, wide, side = layer.attention, layer.width, layer.dense.width, layer.sizes(SegformerLayer).sr_ratio
    into, inner = Linear(d, a.heads * a.head_dim, True), side > 1
    projections = block(
        query=into,
        key=into,
        value=into,
        sr=conv(d, d, side, bias=True) if inner else None,
        layer_norm=layer_norm(d) if inner else None,
    )
    mixed = depthwise(wide, 3, bias=True)
    network = block("mlp", dense1=Linear(d, wide, True), dwconv=block(dwconv=mixed), dense2=Linear(wide, d, True))
    out = block(dense=Linear(a.heads * a.head_dim, d, True))
    attention = block("attention", self=projections, output=out)
    return block(layer_norm_1=layer_norm(d), attention=attention, layer_norm_2=layer_norm(d), mlp=network)


def _scores(s: Spec, widths: list[int]) -> Block:
    d = s.output
    linear = {str(number): block(proj=Linear(width, d, True, "other")) for number, width in enumerate(widths)}
    fuse = conv(len(widths) * d, d, 1)
    return block(linear_c=Block(linear), linear_fuse=fuse, batch_norm=batch_norm(d), classifier=labelling(d, s.labels))


def _depth(s: Spec, widths: list[int]) -> Block:
    d = s.output
    half = d // 2
    fusion = block(
        convolutional_layer1=Block({"0": conv(2 * d, d, 3, bias=True), "1": batch_norm(d)}),
        convolutional_layer2=Block({"0": conv(d, half, 3, bias=True), "1": batch_norm(half)}),
        convolutional_layer3=conv(half, 2, 3, bias=True),
    )
    stages = {
        str(number): block(
            convolution=None if width == d else conv(width, d, 1, bias=True), fusion=fusion if number else None
        )
        for number, width in enumerate(reversed(widths))
    }
    head = Block({"0": conv(d, d, 3, bias=True), "2": conv(d, 1, 3, bias=True)})
    return block(decoder=block(stages=Block(stages)), head=block(head=head))
