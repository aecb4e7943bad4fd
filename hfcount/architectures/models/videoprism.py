"""VideoPrism with a text tower: videos and texts in one space (arXiv:2402.13217)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import classifier, mha
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

MODEL_TYPES = ("videoprism",)  # transformers 5.23: modeling_videoprism.py

_HEADS = keys.named(ClipModel="base")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    return keys.composite(c, text, towers, heads=_HEADS).replace(tied=False)


def blueprint(s: Spec) -> Block:
    video = families.tree(s.part("vision").replace(head="encoder"))
    return block(video_model=video.replace(component="vision", repeats=0), text_model=families.base(s))


def text_spec(c: Config) -> Spec:
    """VideoPrism's text tower: a class token behind the words (arXiv:2402.13217)."""
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=True)
    heads, rows = c.int("num_attention_heads"), c.int("max_position_embeddings")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True, indivisible="run", own_width=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    return keys.decoder_spec(c, layer, heads=("Model",), hidden=d, positions=rows).replace(causal=False, tied=False)


def text_blueprint(s: Spec) -> Block:
    d, rows = s.hidden, s.positions or 0

    def layer_block(layer: Layer) -> Block:
        return block(
            attention=mha(d, layer.attention, out="o_proj"),
            layernorm_before=layer_norm(d),
            layernorm_after=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
        )

    table = block(
        token_embedding=embedding(s.vocab, d),
        position_embedding=buffer(rows, d),
        position_ids=buffer(1, rows, whole=True),
        cls_emb=Tensor((1, 1, d), component="embedding"),
    )
    return block(embeddings=table, layers=stack(s.layers, layer_block), layernorm=layer_norm(d))


_VISION_HEADS = keys.named(("Model",), ForVideoClassification="image_classification", VideoModel="encoder")


class VideoprismVisionModel(Sizes):
    """Sizes of VideoPrism's vision tower; `tube` are the frames, the height and the width that a token sees."""

    num_temporal_layers: int = count("N_t")
    num_auxiliary_layers: int = count("N_a")
    num_frames: int = size("f")
    num_channels: int = size("C")
    tube: tuple[int, ...]


def vision_spec(c: Config) -> Spec[VideoprismVisionModel]:
    """VideoPrism's vision tower: layers over each frame, and layers over frames (arXiv:2402.13217)."""
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=True)
    heads, tube = c.int("num_attention_heads"), c.ints("tubelet_size")
    sides = [] if c.is_int("image_size") else c.ints("image_size")
    if len(tube) != 3 or min(tube) < 1:
        raise c.error("list-length", "tubelet_size must be three numbers: frames, height, width.", "tubelet_size")
    height, width = sides if len(sides) == 2 else 2 * (c.int("image_size"),)
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True, indivisible="run", own_width=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c, "num_spatial_layers"))
    sizes = VideoprismVisionModel.read(
        c, tube=tuple(keys.dim(f"P_{name}", side) for name, side in zip("thw", tube, strict=True))
    )
    places = height // tube[1] * (width // tube[2])
    return keys.imaging(c, layers, _VISION_HEADS, hidden=d, positions=places).having(sizes)


def vision_blueprint(s: Spec[VideoprismVisionModel]) -> Block:
    d, of, first = s.hidden, s.own, s.layers[0].layer
    norm, a = layer_norm(d), first.attention
    kernel = (d, of.num_channels, *of.tube)

    layer = block(
        attention=mha(d, a, out="o_proj"),
        layernorm_before=norm,
        layernorm_after=norm,
        mlp=mlp(d, first.dense.width),
    )
    patch = block(projection=block(weight=Tensor(kernel), bias=Tensor((d,))))
    body = block(
        layernorm1=norm,
        layernorm2=norm,
        spatial_embeddings=block(
            "embedding", patch_embeddings=patch, position_embeddings=Tensor((1, s.positions or 0, d))
        ),
        temporal_embeddings=block("embedding", position_embeddings=Tensor((1, of.num_frames, d))),
        spatial_layers=Repeat(s.layers[0].indices, layer),
        temporal_layers=Repeat(Indices.below(of.num_temporal_layers), layer),
    )
    if s.head == "base":
        return body
    share = first.dense.width // a.heads
    into = Linear(d, a.heads * share, a.qkv_bias)
    pooling = block(
        "other",
        per_dim_scale=Tensor((share,)),
        pooling_attention_query=Tensor((1, 1, d)),
        q_proj=into,
        k_proj=into,
        v_proj=into,
        o_proj=Linear(a.heads * share, d, True),
    )
    labelled = s.head == "image_classification"
    return block(
        vision_model=body,
        auxiliary_layers=None if labelled else Repeat(Indices.below(of.num_auxiliary_layers), layer),
        head=pooling,
        head_layernorm=norm,
        classifier=classifier(s) if labelled else None,
    )


PARTS = (
    families.Family(("videoprism_text_model",), text_spec, text_blueprint, ignored=("apply_l2norm",)),
    families.Family(("videoprism_vision_model",), vision_spec, vision_blueprint, ignored=("apply_l2norm",)),
)
