"""DaViT, Florence-2's vision tower: attention within windows, then between channels (arXiv:2204.03645)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.convolution import conv, depthwise
from hfcount.spec import Layer, Record, Spec
from hfcount.tree.nodes import Block, Linear, Node, block

# transformers 5.23: modeling_florence2.py
MODEL_TYPES = ("florence_vision", "davit")  # davit is its name in microsoft/Florence-2-large
IGNORED = (
    *("patch_stride", "patch_padding", "window_size", "num_groups"),
    *("projection_dim", "max_temporal_embeddings", "image_pos_embed", "visual_temporal_embedding"),
    *("enable_checkpoint", "image_feature_source"),
)


class Entry(Record):
    """What comes before a stage: the side of its patches, and whether the norm is before them."""

    patch_size: int
    prenorm: bool


class FlorenceVision(Record):
    """What DaViT alone has; `entries` are those of its stages."""

    in_channels: int
    entries: tuple[Entry, ...]


def spec(c: Config) -> Spec[FlorenceVision]:
    c = c.assuming({"in_channels": 3, "mlp_ratio": 4}) if c.family == "davit" else c  # the release gives neither
    widths, bias = c.ints("embed_dim", "dim_embed"), c.bool("qkv_bias", default=True)
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), c.ints("num_heads"), bias)
    sides, normed = c.ints("patch_size"), c.entries("patch_prenorm")
    channels = keys.dim("C", c.int("in_channels"))
    if min(len(sides), len(normed)) < len(layers):
        said = f"patch_size has {len(sides):,} and patch_prenorm {len(normed):,} entries for {len(layers):,} stages."
        raise c.error(said, "patch_size", "Correct one of them.")
    entries = tuple(
        Entry(patch_size=keys.dim(f"P{number + 1}", sides[number]), prenorm=bool(normed[number]))
        for number, _ in enumerate(layers)
    )
    own, d = FlorenceVision(in_channels=channels, entries=entries), layers[-1].layer.width
    return keys.encoding(c, layers, {"Backbone": "base"}, hidden=d, uncounted=keys.COARSER).having(own)


def blueprint(s: Spec[FlorenceVision]) -> Block:
    released = s.family == "davit"

    def layer(one: Layer) -> Block:
        d, bias = one.width, one.attention.qkv_bias
        attention = block("attention", qkv=Linear(d, 3 * d, bias), proj=Linear(d, d, True))
        mixing = depthwise(d, 3, bias=True)

        def first(name: str) -> Block:  # each part within a block that adds its input, and has its norm
            apart, network = block(fn=block(dw=mixing)), block(net=mlp(d, one.dense.width))
            mixed = {"conv1": apart, name: block(norm=layer_norm(d), fn=attention), "conv2": apart}
            return Block({**mixed, "ffn": block(norm=layer_norm(d), fn=network)})

        def half(name: str) -> Block:
            parts = {"conv1": mixing, "norm1": layer_norm(d), name: attention, "conv2": mixing}
            return Block({**parts, "norm2": layer_norm(d), "ffn": mlp(d, one.dense.width)})

        build = first if released else half
        return block(spatial_block=build("window_attn"), channel_block=build("channel_attn"))

    before, entries, stages = s.own.in_channels, dict[str, Block](), dict[str, Node]()
    for number, (part, entry) in enumerate(zip(s.layers, s.own.entries, strict=True)):
        d, side = part.layer.width, entry.patch_size
        norm = layer_norm(before if entry.prenorm else d)
        entries[str(number)] = Block({"proj" if released else "conv": conv(before, d, side, bias=True), "norm": norm})
        stages[str(number)] = stack((part,), layer)
        before = d
    return block(convs=Block(entries), blocks=Block(stages))
