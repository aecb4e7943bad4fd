"""OmDet-Turbo: RT-DETR's hybrid encoder, and a decoder that is told in words what to find (arXiv:2403.06892)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import detr_layer, named_attention, perceptron, sampling
from hfcount.architectures.components.rt_detr import cross_stage, hybrid_encoder, normed_linear, projected
from hfcount.architectures.components.timm.names import SWINS
from hfcount.architectures.layers import altered, embedding, layer_norm, stack
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("omdet-turbo",)  # transformers 5.23: modeling_omdet_turbo.py
IGNORED = tuple(
    "image_size cache_size eval_size positional_encoding_temperature apply_layernorm_after_vision_backbone".split()
)
SPELLINGS = {r"^language_backbone\.model\.text_model\.": "language_backbone.model."}  # CLIP's own module around it

_HEADS = keys.named(ForObjectDetection="object_detection")
_SWIN, _PLACES = "swin_tiny_patch4_window7_224", (1, 2, 3)


class OmDetTurbo(Sizes):
    """Sizes of OmDet-Turbo: `seen` are the widths of features for the encoder, `given` those for the decoder."""

    seen: tuple[int, ...]
    given: tuple[int, ...]
    num_queries: int = size("n_q")
    learned: bool = flag("learn_initial_query", absent=False)
    num_feature_levels: int = size("n_l")
    decoder_num_points: int = size("n_s")
    class_embed_dim: int = size("d_c")
    task_encoder_hidden_dim: int = size("d_t")
    text_projection_in_dim: int = size("d_i")
    text_projection_out_dim: int = size("d_p")
    encoder_fused: int = derived(lambda c: keys.dim("d_h", c.times("hidden_expansion", c.int("encoder_hidden_dim"))))
    attended: int = derived(lambda c: len(c.ints("encoder_projection_indices")))


def _window(c: Config) -> int | None:
    """The side of the windows of timm's model, by its name; None if it has none."""
    name = (c.part("backbone_config") if c.given("backbone_config") else c).str("backbone", default=_SWIN)
    known = SWINS.get(name.rpartition("/")[2].partition(".")[0])
    return known.window if known else None


def _backbone(c: Config) -> Spec:
    backbone = families.convolutional(c, _PLACES, _SWIN)
    if backbone.family != "timm_backbone":
        return backbone
    window = _window(c)
    asked = next((c.part(name) for name in ("backbone_config", "backbone_kwargs") if c.value(name)), None)
    if window is None and (asked is None or asked.given("img_size")):  # by default it is given image_size
        raise UnknownArchitecture(f"{c.where}: the backbone is a ResNet of timm, which takes no img_size.")
    if asked and asked.given("img_size") and not asked.bool("always_partition", default=False):
        coarsest = min(keys.sides(asked, "img_size")) // backbone.seen.side // 2 ** (len(backbone.layers) - 1)
        if window is not None and coarsest < window:
            raise UnknownArchitecture(f"{c.where}: windows that images of img_size do not fill are not described.")
    return backbone


def spec(c: Config) -> Spec[OmDetTurbo]:
    d, inside = c.int("decoder_hidden_dim"), keys.dim("d_e", c.int("encoder_hidden_dim"))
    heads = c.int("decoder_num_heads")
    keys.divides(c, "decoder_num_heads", heads, "encoder_hidden_dim", inside)
    widths, given = c.ints("encoder_in_channels", least=1), c.ints("vision_features_channels")
    sizes = OmDetTurbo.read(
        c,
        seen=tuple(keys.dim(f"C{number}", width) for number, width in enumerate(widths, 1)),
        given=tuple(keys.dim(f"G{number}", width) for number, width in enumerate(given, 1)),
    )
    mixer = keys.multi_head(c, inside, c.int("encoder_attention_heads"))
    each = Layer(mixer=mixer, ffn=Dense(width=c.int("encoder_dim_feedforward"), bias=True))
    inner = tuple(keys.uniform(each, c.int("encoder_layers", maximum=MAX_LAYERS)))
    layer = Layer(mixer=keys.multi_head(c, d, heads), ffn=Dense(width=c.int("decoder_dim_feedforward"), bias=True))
    layers = keys.uniform(layer, c.int("decoder_num_layers", maximum=MAX_LAYERS))
    words = families.part(c, "text_config")
    if not words.vocab or "text" in words.parts:
        raise UnknownArchitecture(f"{c.where}: text_config: {words.family} reads no words.")
    parts = {
        "backbone": _backbone(c),
        "words": words.replace(head="base"),
        "encoder": Spec(family=c.family, hidden=inside, layers=inner, causal=False),
    }
    model = keys.decoder_spec(c, layers, vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts)
    return model.replace(causal=False).having(sizes)


def _encoder(s: Spec[OmDetTurbo]) -> Block:
    """The hybrid encoder: as `hybrid_encoder`, with channel_projection_layers."""
    inner, sizes = s.part("encoder"), s.own
    d = inner.hidden
    layers = stack(inner.layers, lambda layer: altered(detr_layer(d, layer), self_attn=named_attention(d)))
    attending = Repeat(Indices.below(sizes.attended), block(layers=layers))
    encoder = hybrid_encoder(inner, len(sizes.seen), sizes.attended, cross_stage(d, sizes.encoder_fused))
    return altered(encoder, channel_projection_layers=projected(sizes.seen, d), encoder=attending)


def _decoder(s: Spec[OmDetTurbo]) -> Block:
    """Queries that are told a task and classes in words, with heads of the encoder and of each layer."""
    d, sizes, norm, c = s.hidden, s.own, layer_norm(s.hidden), s.own.class_embed_dim
    box, each, between = perceptron(d, d, d, 4), Indices.below(s.depth), sizes.task_encoder_hidden_dim
    points, classes = sizes.num_feature_levels * sizes.decoder_num_points, Linear(c, d, True, "other")

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=named_attention(d),
            norm1=norm,
            cross_attn=sampling(s.part("encoder").hidden, points, layer.attention.heads),
            norm2=norm,
            linear1=Linear(d, layer.dense.width, True, "mlp"),
            linear2=Linear(layer.dense.width, d, True, "mlp"),
            norm3=norm,
        )

    task = {
        "linear1": Linear(c, between, True),
        "linear2": Linear(between, c, True),
    }
    return block(
        channel_projection_layers=projected(sizes.given, d),
        task_encoder=block(mlp=Block(task, "mlp"), res1=block(norm1=layer_norm(c))),
        task_project=Linear(c, d, True, "projector") if int(c) != int(d) else None,
        layers=stack(s.layers, layer_block),
        tgt_embed=embedding(sizes.num_queries, d) if sizes.learned else None,
        query_position_head=perceptron(4, 2 * d, d),
        encoder_vision_features=normed_linear(d),
        encoder_class_head=classes,
        encoder_bbox_head=box,
        decoder_class_head=Repeat(each, classes),
        decoder_bbox_head=Repeat(each, box),
    )


def blueprint(s: Spec[OmDetTurbo]) -> Block:
    sizes, tower = s.own, families.tree(s.part("backbone"))
    table = Tensor((sizes.text_projection_in_dim, sizes.text_projection_out_dim), component="projector")
    timm = s.part("backbone").family == "timm_backbone"
    return block(
        vision_backbone=block(
            vision_backbone=block(_backbone=tower) if timm else tower,
            layer_norms=Block({str(place): layer_norm(width) for place, width in enumerate(sizes.seen)}),
        ),
        language_backbone=block(model=families.tree(s.part("words")), text_projection=table),
        encoder=_encoder(s),
        decoder=_decoder(s),
    )
