"""Detectors like DETR: a backbone, an encoder and a decoder of queries (arXiv:2005.12872)."""

from collections.abc import Mapping

from hfcount.keys.attention import Uneven, multi_head
from hfcount.keys.layers import alike
from hfcount.keys.model import Heads, decoder_spec, labels, named
from hfcount.keys.sizes import sized
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, Layer, Layers, Spec

NAMED_STEMS = ("stem", "act", "act1", "relu")


UNSHAPED = (
    *("anchor_image_size", "eval_size", "positional_encoding_temperature", "disable_custom_kernels"),
    *("auxiliary_loss", "use_focal_loss", "with_box_refine"),
)
"""Keys of RT-DETR and those like it that bear on no shape."""


def chosen(c: Config) -> list[int]:
    """Which features a backbone gives, by their numbers, of which 0 is the stem's; -1, the last, if nothing says so."""
    names = c.strs("out_features")
    if not names:
        return [int(place) for place in c.ints("out_indices")] or [-1]
    found = []
    for name in names:
        number = name.lstrip("abcdefghijklmnopqrstuvwxyz") or "0"
        if name not in NAMED_STEMS and not (number.isdecimal() and len(number) < 9):
            raise c.error("out_features must be names of stages.", "out_features")
        found.append(0 if name in NAMED_STEMS else int(number))
    if found != sorted(set(found)):
        raise c.error("out_features must name each stage once, in order.", "out_features", "Correct it.")
    return found


def channels(places: list[int], backbone: Spec) -> list[int]:
    """The widths of these features of a backbone."""
    sizes = [part.layer.traits for part in backbone.layers]
    stages = [own.get("announced", own.get("width", backbone.hidden)) for own in sizes]
    stem = backbone.traits.get("embedding_size", stages[0] if stages else backbone.hidden)
    if not any("width" in own for own in sizes):
        return [backbone.hidden for _ in places]
    widths = [stem, *stages]
    found = [widths[place] for place in places if -len(widths) <= place < len(widths)]
    return found or [backbone.hidden]


def detecting(
    c: Config,
    heads: Heads,
    backbone: Spec,
    *,
    traits: Mapping[str, int] | None = None,
    parts: Mapping[str, Spec] | None = None,
    inside: str = "",
) -> Spec:
    """An encoder and a decoder over a backbone; `inside` is the key of the encoder's width, if it has its own."""
    d = c.int("d_model", "hidden_size")
    own = sized("d_e", c.int(inside)) if inside else d

    def layers(side: str) -> tuple[Layers, ...]:
        uneven: Uneven = "built" if inside and side == "encoder" else "refused"
        mixer = multi_head(c, own if side == "encoder" else d, c.int(f"{side}_attention_heads"), uneven=uneven)
        layer = Layer(mixer=mixer, ffn=Dense(width=c.int(f"{side}_ffn_dim"), bias=True))
        return tuple(alike(layer, c.int(f"{side}_layers", maximum=MAX_LAYERS)))

    encoder = Spec(family=c.family, hidden=own, layers=layers("encoder"), causal=False)
    inner = {"encoder": encoder, "backbone": backbone, **(parts or {})}
    whole = decoder_spec(
        c, layers("decoder"), vocab=0, hidden=d, layer_count=None, heads=heads, parts=inner, traits=traits or {}
    )
    return whole.but(causal=False, labels=labels(c, 2))


def hybrid(
    c: Config,
    heads: Heads,
    backbone: Spec,
    *,
    first: int = 0,
    traits: Mapping[str, int] | None = None,
    parts: Mapping[str, Spec] | None = None,
) -> Spec:
    """RT-DETR and those with its keys: an encoder of several levels, and a decoder of queries found in its output.

    `first` is the number of the first of the backbone's features that the encoder takes.
    """
    inner = c.part("backbone_config")
    none = inner.given("out_features") and not inner.strs("out_features")
    widths = [] if none else channels(chosen(inner), backbone)[first:]
    lower = c.ints("decoder_in_channels", default=(256, 256, 256), least=1, minimum=0)
    common: dict[str, int] = {
        "num_queries": sized("n_q", c.int("num_queries")),
        "frozen": c.bool("freeze_backbone_batch_norms", default=True),
        "encoder_fused": sized("d_h", c.times("hidden_expansion", c.int("encoder_hidden_dim"), default=1.0)),
        "levels": len(c.ints("encoder_in_channels", default=(512, 1024, 2048))),
        "attended": len(c.ints("encode_proj_layers", default=(2,))),
        "num_feature_levels": sized("n_l", c.int("num_feature_levels")),
        "decoder_n_points": sized("n_s", c.int("decoder_n_points")),
        "uppers": len(widths),
        "lowers": len(lower),
        **{f"upper.{place}": width for place, width in enumerate(widths)},
        **{f"lower.{place}": sized(f"C{place + 1}", width) for place, width in enumerate(lower)},
    }
    whole = {**common, **(traits or {})}
    return detecting(c, heads, backbone, traits=whole, parts=parts, inside="encoder_hidden_dim")


def learned_queries(c: Config, backbone: Spec) -> Spec:
    """DETR and those with its keys: learned queries, and features of the stages that the backbone names."""
    heads = named(ForObjectDetection="object_detection", Model="base", ForSegmentation="panoptic_segmentation")
    widths = channels(chosen(c.part("backbone_config")) if c.given("backbone_config") else [1, 2, 3, 4], backbone)
    traits = {
        "num_queries": sized("n_q", c.int("num_queries")),
        "learned": c.str("position_embedding_type", default="sine") == "learned",
        "levels": len(widths),
        **{f"level.{place}": width for place, width in enumerate(widths)},
    }
    return detecting(c, heads, backbone, traits=traits)
