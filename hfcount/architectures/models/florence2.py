"""Florence-2: a vision tower before BART, for any task that a prompt names (arXiv:2311.06242)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block, buffer

MODEL_TYPES = ("florence2",)  # transformers 5.23: modeling_florence2.py
IGNORED = ("normalize_embedding", "num_hidden_layers", "projection_dim", "vocab_size")


class Florence2(Sizes):
    projection_dim: int
    max_position_embeddings: int
    max_temporal_embeddings: int
    released: int


def spec(c: Config) -> Spec[Florence2]:
    v, heads = c.part("vision_config"), ("ForConditionalGeneration", "Model")
    released = v.has("dim_embed")  # names of keys and tensors are those of microsoft/Florence-2-large
    text = families.part(c, "text_config", "bart" if released else "")
    towers = {"vision": families.part(c, "vision_config", "davit" if released else "")}
    places, times = (v.part("image_pos_embed"), v.part("visual_temporal_embedding")) if released else (v, v)
    sizes = Florence2.read(
        c,
        projection_dim=keys.dim("d_p", v.int("projection_dim")),
        max_position_embeddings=keys.dim(
            "n_v", places.int("max_pos_embeddings" if released else "max_position_embeddings")
        ),
        max_temporal_embeddings=keys.dim("n_t", times.int("max_temporal_embeddings")),
        released=released,
    )
    return keys.composite(c, text, towers, heads=heads[:1] if released else heads, tied=True).having(sizes)


def blueprint(s: Spec[Florence2]) -> Block:
    of, vision_width = s.own, s.part("vision").hidden
    half = vision_width // 2
    rows, columns = (embedding(of.max_position_embeddings, width) for width in (half, vision_width - half))
    norm, places = layer_norm(of.projection_dim), block(row_embeddings=rows, column_embeddings=columns)
    times = block(pos_idx_to_embed=buffer(of.max_temporal_embeddings, vision_width))
    if of.released:
        text = families.tree(s.part("text").replace(head="conditional_generation", tied=s.tied))
        return block(
            vision_tower=families.tower(s, "vision"),
            image_projection=Tensor((vision_width, of.projection_dim), component="projector"),
            image_proj_norm=Block(norm.children, "projector", 0),
            image_pos_embed=Block(places.children, "projector", 0),
            visual_temporal_embed=Block(times.children, "projector", 0),
            language_model=rebased(text, "language_model"),
        )
    projector = block(
        "projector",
        image_projection=Linear(vision_width, of.projection_dim),
        image_proj_norm=norm,
        image_position_embed=places,
        visual_temporal_embed=times,
    )
    prefix = "language_model" if s.head == "base" else "model.language_model"
    body = block(
        vision_tower=families.tower(s, "vision"),
        multi_modal_projector=projector.replace(repeats=0),
        language_model=rebased(families.base(s), prefix),
    )
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, f"{prefix}.shared.weight"))


class Entry(Record):
    """What comes before a stage: the side of its patches, and whether the norm is before them."""

    patch_size: int
    prenorm: bool


class FlorenceVision(Record):
    """Sizes specific to DaViT; `entries` are those of its stages."""

    in_channels: int
    entries: tuple[Entry, ...]


def vision_spec(c: Config) -> Spec[FlorenceVision]:
    """DaViT, Florence-2's vision tower: attention within windows, then between channels (arXiv:2204.03645)."""
    c = c.assuming({"in_channels": 3, "mlp_ratio": 4}) if c.family == "davit" else c  # the release gives neither
    widths, bias = c.ints("embed_dim", "dim_embed"), c.bool("qkv_bias", default=True)
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d), c.ints("num_heads"), bias=bias)
    sides, normed = c.ints("patch_size"), c.entries("patch_prenorm")
    channels = keys.dim("C", c.int("in_channels"))
    if min(len(sides), len(normed)) < len(layers):
        text = f"patch_size has {len(sides):,} and patch_prenorm {len(normed):,} entries for {len(layers):,} stages."
        raise c.error("list-length", text, "patch_size", "Correct one of them.")
    entries = tuple(
        Entry(patch_size=keys.dim(f"P{number + 1}", sides[number]), prenorm=bool(normed[number]))
        for number, _ in enumerate(layers)
    )
    sizes, d = FlorenceVision(in_channels=channels, entries=entries), layers[-1].layer.width
    return keys.encoding(c, layers, {"Backbone": "base"}, hidden=d, uncounted=keys.COARSER).having(sizes)


def vision_blueprint(s: Spec[FlorenceVision]) -> Block:
    released = s.family == "davit"

    def layer_block(layer: Layer) -> Block:
        d, bias = layer.width, layer.attention.qkv_bias
        attention = block("attention", qkv=Linear(d, 3 * d, bias), proj=Linear(d, d, True))
        mixing = depthwise(d, 3, bias=True)

        def first(name: str) -> Block:  # each part within a block that adds its input, and has its norm
            apart, network = block(fn=block(dw=mixing)), block(net=mlp(d, layer.dense.width))
            mixed = {"conv1": apart, name: block(norm=layer_norm(d), fn=attention), "conv2": apart}
            return Block({**mixed, "ffn": block(norm=layer_norm(d), fn=network)})

        def half(name: str) -> Block:
            parts = {"conv1": mixing, "norm1": layer_norm(d), name: attention, "conv2": mixing}
            return Block({**parts, "norm2": layer_norm(d), "ffn": mlp(d, layer.dense.width)})

        build = first if released else half
        return block(spatial_block=build("window_attn"), channel_block=build("channel_attn"))

    before, entries, stages = s.own.in_channels, dict[str, Block](), dict[str, Node]()
    for number, (part, entry) in enumerate(zip(s.layers, s.own.entries, strict=True)):
        d, side = part.layer.width, entry.patch_size
        norm = layer_norm(before if entry.prenorm else d)
        entries[str(number)] = Block({"proj" if released else "conv": conv(before, d, side, bias=True), "norm": norm})
        stages[str(number)] = stack((part,), layer_block)
        before = d
    return block(convs=Block(entries), blocks=Block(stages))


PARTS = (
    families.Family(
        ("florence_vision", "davit"),
        vision_spec,
        vision_blueprint,
        ignored=tuple(
            "patch_stride patch_padding window_size num_groups projection_dim max_temporal_embeddings "
            "image_pos_embed visual_temporal_embedding enable_checkpoint image_feature_source".split()
        ),
    ),
)
