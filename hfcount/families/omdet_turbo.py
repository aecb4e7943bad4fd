"""OmDet-Turbo: RT-DETR's hybrid encoder, and a decoder that is told in words what to find (arXiv:2403.06892)."""

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import layer_norm
from hfcount.parts.omdet import decoder, encoder
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("omdet-turbo",)  # transformers 5.23: modeling_omdet_turbo.py
IGNORED = (
    "image_size",
    "cache_size",
    "eval_size",
    "positional_encoding_temperature",
    "apply_layernorm_after_vision_backbone",
)
SPELLINGS = {r"^language_backbone\.model\.text_model\.": "language_backbone.model."}  # CLIP's own module around it

_HEADS = keys.named(ForObjectDetection="object_detection")
_SWIN, _PLACES = "swin_tiny_patch4_window7_224", (1, 2, 3)


def _backbone(c: Config) -> Spec:
    found = families.convolutional(c, _PLACES, _SWIN)
    if found.family != "timm_backbone":
        return found
    window = found.traits.get("window_size")
    asked = next((c.part(name) for name in ("backbone_config", "backbone_kwargs") if c.value(name)), None)
    if window is None and (asked is None or asked.given("img_size")):  # by default it is given image_size
        raise UnknownArchitecture(f"{c.where}: the backbone is a ResNet of timm, which takes no img_size.")
    if asked and asked.given("img_size") and not asked.bool("always_partition", default=False):
        coarsest = min(keys.sides(asked, "img_size")) // found.seen.side // 2 ** (len(found.layers) - 1)
        if window is not None and coarsest < window:
            raise UnknownArchitecture(f"{c.where}: windows that images of img_size do not fill are not described.")
    return found


def spec(c: Config) -> Spec:
    d, inside = c.int("decoder_hidden_dim"), keys.sized("d_e", c.int("encoder_hidden_dim"))
    heads = c.int("decoder_num_heads")
    keys.divides(c, "decoder_num_heads", heads, "encoder_hidden_dim", inside)
    seen, given = c.ints("encoder_in_channels", least=1), c.ints("vision_features_channels")
    traits: dict[str, int] = {
        "num_queries": keys.sized("n_q", c.int("num_queries")),
        "learned": c.bool("learn_initial_query", default=False),
        "num_feature_levels": keys.sized("n_l", c.int("num_feature_levels")),
        "decoder_num_points": keys.sized("n_s", c.int("decoder_num_points")),
        "class_embed_dim": keys.sized("d_c", c.int("class_embed_dim")),
        "task_encoder_hidden_dim": keys.sized("d_t", c.int("task_encoder_hidden_dim")),
        "text_projection_in_dim": keys.sized("d_i", c.int("text_projection_in_dim")),
        "text_projection_out_dim": keys.sized("d_p", c.int("text_projection_out_dim")),
        "encoder_fused": keys.sized("d_h", c.times("hidden_expansion", inside)),
        "attended": len(c.ints("encoder_projection_indices")),
        "levels": len(seen),
        "given": len(given),
        **{f"level.{place}": keys.sized(f"C{place + 1}", width) for place, width in enumerate(seen)},
        **{f"given.{place}": keys.sized(f"G{place + 1}", width) for place, width in enumerate(given)},
    }
    own = keys.multi_head(c, inside, c.int("encoder_attention_heads"))
    each = Layer(mixer=own, ffn=Dense(width=c.int("encoder_dim_feedforward"), bias=True))
    inner = tuple(keys.alike(each, c.int("encoder_layers", maximum=MAX_LAYERS)))
    one = Layer(mixer=keys.multi_head(c, d, heads), ffn=Dense(width=c.int("decoder_dim_feedforward"), bias=True))
    layers = keys.alike(one, c.int("decoder_num_layers", maximum=MAX_LAYERS))
    words = families.part(c, "text_config")
    if not words.vocab or "text" in words.parts:
        raise UnknownArchitecture(f"{c.where}: text_config: {words.family} reads no words.")
    parts = {
        "backbone": _backbone(c),
        "words": words.but(head="base"),
        "encoder": Spec(family=c.family, hidden=inside, layers=inner, causal=False),
    }
    whole = keys.decoder_spec(c, layers, vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts, traits=traits)
    return whole.but(causal=False)


def blueprint(s: Spec) -> Block:
    of, seen = s.traits, families.tree(s.parts["backbone"])
    widths = [of[f"level.{place}"] for place in range(of["levels"])]
    given = [of[f"given.{place}"] for place in range(of["given"])]
    table = Tensor((of["text_projection_in_dim"], of["text_projection_out_dim"]), component="projector")
    timm = s.parts["backbone"].family == "timm_backbone"
    return block(
        vision_backbone=block(
            vision_backbone=block(_backbone=seen) if timm else seen,
            layer_norms=Block({str(place): layer_norm(width) for place, width in enumerate(widths)}),
        ),
        language_backbone=block(model=families.tree(s.parts["words"]), text_projection=table),
        encoder=encoder(s, widths),
        decoder=decoder(s, given),
    )
