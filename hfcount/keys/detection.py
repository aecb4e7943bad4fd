"""Detectors like DETR: a backbone, an encoder and a decoder of queries (arXiv:2005.12872)."""

from collections.abc import Mapping

from hfcount.errors import UnknownArchitecture
from hfcount.keys.attention import Uneven, multi_head
from hfcount.keys.layers import alike
from hfcount.keys.model import Heads, decoder_spec, labels, named
from hfcount.keys.sizes import divides, sized
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, Layer, Layers, Spec

NAMED_STEMS = ("stem", "act", "act1", "relu")


UNSHAPED = (
    *("anchor_image_size", "eval_size", "positional_encoding_temperature"),
    *("use_focal_loss", "with_box_refine"),
)
"""Keys of RT-DETR and those like it that bear on no shape."""


def chosen(c: Config) -> list[int]:
    """Which features a backbone gives, by their numbers, of which 0 is the stem's; -1, the last, if nothing says so."""
    names = c.strs("out_features")
    if not names:
        return [int(place) for place in c.ints("out_indices")] or [-1]
    found = []
    for name in names:
        number = name.lstrip("abcdefghijklmnopqrstuvwxyz.") or "0"
        if name not in NAMED_STEMS and not (number.isdecimal() and len(number) < 9):
            raise c.error("out_features must be names of stages.", "out_features")
        found.append(0 if name in NAMED_STEMS else int(number))
    if found != sorted(set(found)):
        raise c.error("out_features must name each stage once, in order.", "out_features", "Correct it.")
    return found


def channels(places: list[int], backbone: Spec) -> list[int]:
    """The widths of these features of a backbone."""
    stages = [one.layer.stage_width for one in backbone.layers if one.layer.stage_width is not None]
    if not stages:
        return [backbone.hidden for _ in places]
    widths = backbone.features or (stages[0], *stages)
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


def grouped_queries(c: Config, backbone: Spec, heads: Heads, traits: Mapping[str, int]) -> Spec:
    """LW-DETR and those with its keys: queries in groups, of which one is left after training (arXiv:2207.13085).

    The backbone's features, all as wide, are joined by convolutions of which the inner ones are narrower.
    """
    d, crossed = c.int("d_model"), c.int("decoder_cross_attention_heads")
    divides(c, "decoder_cross_attention_heads", crossed, "d_model", d)
    bias, own = c.bool("attention_bias", default=True), c.int("decoder_self_attention_heads")
    layer = Layer(
        mixer=multi_head(c, d, own, bias=bias, uneven="run", own_width=True),
        ffn=Dense(width=c.int("decoder_ffn_dim"), bias=True),
        traits={"decoder_cross_attention_heads": sized("h_x", crossed)},
    )
    sizes = {
        "num_queries": sized("n_q", c.int("num_queries")),
        "group_detr": sized("n_g", c.int("group_detr", maximum=MAX_LAYERS)),
        "decoder_n_points": sized("n_s", c.int("decoder_n_points")),
        "inner": sized("d_p", c.times("hidden_expansion", d, default=0.5)),
        "c2f_num_blocks": sized("n_b", c.int("c2f_num_blocks", minimum=0, maximum=MAX_LAYERS)),
        **traits,
    }
    layers = alike(layer, c.int("decoder_layers", maximum=MAX_LAYERS))
    # Within these detectors, and not elsewhere, the attention of the backbone is stored under older names.
    parts = {"backbone": backbone.but(adapted=True)}
    whole = decoder_spec(c, layers, vocab=0, hidden=d, layer_count=None, heads=heads, parts=parts, traits=sizes)
    return whole.but(causal=False, labels=labels(c, 2))


_BLOCKS = 3  # of a fusion of two levels, at a depth of 1


def distributing(c: Config) -> dict[str, int]:
    """The traits of D-FINE and those after it, which refine distributions (arXiv:2410.13842), but for levels' widths.

    Raises:
        UnknownArchitecture: there are layers behind the one whose predictions count.
        ConfigError: the points are not listed for each level.
    """
    depth, last = c.int("decoder_layers", maximum=MAX_LAYERS), c.int("eval_idx", default=-1, minimum=-64)
    if (last if last >= 0 else depth + last) != depth - 1:
        raise UnknownArchitecture(f"{c.where}: layers behind the one that eval_idx names are not described.")
    levels = c.int("num_feature_levels", maximum=64)
    alone, points = c.is_int("decoder_n_points"), c.ints("decoder_n_points", default=(4,), alone=True, least=1)
    if not alone and len(points) != levels:
        said = f"decoder_n_points has {len(points):,} entries, and there are {levels:,} levels."
        raise c.error(said, "decoder_n_points", "Correct one of them.", expected=int(levels), observed=len(points))
    heads, own = c.int("decoder_attention_heads"), c.int("head_dim", default=None)
    if own is not None:
        d = c.int("d_model", "hidden_size")
        if own * heads != d:
            said = f"head_dim is {own:,}, and the {heads:,} heads share {d:,}."
            raise c.error(said, "head_dim", "Remove it, or correct it.", observed=int(own))
    fused = c.times("hidden_expansion", c.int("encoder_hidden_dim"), default=1.0) // 2
    return {
        "num_queries": sized("n_q", c.int("num_queries")),
        "learned": c.bool("learn_initial_query", default=False),
        "denoised": c.int("num_denoising", minimum=0) > 0,
        "frozen": c.bool("freeze_backbone_batch_norms", default=True),
        "encoder_fused": sized("d_h", fused),
        "blocks": round(_BLOCKS * c.number("depth_mult", default=1.0)),
        "attended": len(c.ints("encode_proj_layers", default=(2,))),
        "num_feature_levels": sized("n_l", levels),
        "points": sized("n_s", points[0] * levels if alone else sum(points)),
        "max_num_bins": sized("n_b", c.int("max_num_bins")),
        "top_prob_values": sized("n_t", c.int("top_prob_values")),
        "lqe_hidden_dim": sized("d_q", c.int("lqe_hidden_dim")),
        "lqe_layers": c.int("lqe_layers", maximum=64),
    }
