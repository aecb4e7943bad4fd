"""ZoeDepth: relative depth like DPT's, made metric by bins whose centres are adjusted (arXiv:2302.12288)."""

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys.depth import reassembled
from hfcount.mapper import Config
from hfcount.parts.convolution import conv
from hfcount.parts.depth import fusion, neck, reassembling, shrinking
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("zoedepth",)  # transformers 5.23: modeling_zoedepth.py
IGNORED = ("attractor_alpha", "attractor_gamma")

_HEADS = keys.named(ForDepthEstimation="depth_estimation")
_SEED, _PROJECTED, _LEVELS, _DEEP = 256, 128, 4, 256  # sizes that no key gives
_LAST = 4  # two for probabilities, two for a temperature


def spec(c: Config) -> Spec:
    bins = c.entries("bin_configurations") or [{"n_bins": 64}]
    if len(bins) > 1:
        raise UnknownArchitecture(f"{c.where}: bin_configurations: heads for several kinds of places are unknown.")
    count = bins[0].get("n_bins") if isinstance(bins[0], dict) else None
    attractors = c.ints("num_attractors", default=(16, 8, 4, 1))
    if type(count) is not int or len(attractors) < _LEVELS:
        raise c.error("bin_configurations must give n_bins, and num_attractors four numbers.", "bin_configurations")
    normed = c.str("bin_centers_type", default="softplus") == "normed"
    backbone = families.backbone(c)
    traits = {
        **reassembled(c),
        "read": c.str("readout_type", default="project") == "project",
        "n_bins": keys.sized("n_b", count),
        "normed": normed,
        "add_projection": c.bool("add_projection", default=False),
        "num_relative_features": keys.sized("d_r", c.int("num_relative_features")),
        "bottleneck_features": keys.sized("d_n", c.int("bottleneck_features")),
        "bin_embedding_dim": keys.sized("d_b", c.int("bin_embedding_dim")),
        **{f"attractors.{place}": keys.sized(f"n{place + 1}", one) for place, one in enumerate(attractors)},
    }
    d, parts = traits["fusion_hidden_size"], {"backbone": backbone}
    whole = keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts, traits=traits)
    return whole.but(causal=False)


def _two(inputs: int, inner: int, outputs: int) -> Block:
    return block(conv1=conv(inputs, inner, 1, bias=True), conv2=conv(inner, outputs, 1, bias=True))


def blueprint(s: Spec) -> Block:
    of, d, inner = s.traits, s.traits["fusion_hidden_size"], s.parts["backbone"]
    narrow, bins, relative = of["bottleneck_features"], of["bin_embedding_dim"], of["num_relative_features"]
    scale = 2 if of["normed"] else 1
    adjusted = {str(place): _two(bins, bins, scale * of[f"attractors.{place}"]) for place in range(_LEVELS)}
    seen = relative + 1 + bins
    mixed = {"0": conv(seen, seen // 2, 1, bias=True), "2": conv(seen // 2, _LAST, 1, bias=True)}
    head = shrinking(d, relative)
    deep = conv(_DEEP, _DEEP, 3, bias=True) if of["add_projection"] else None
    metric = block(
        "other",
        conv2=conv(narrow, narrow, 1, bias=True),
        seed_bin_regressor=_two(narrow, _SEED, of["n_bins"]),
        seed_projector=_two(narrow, _PROJECTED, bins),
        projectors=Block({str(place): _two(d, _PROJECTED, bins) for place in range(_LEVELS)}),
        attractors=Block(adjusted),
        conditional_log_binomial=block(mlp=Block(mixed)),
    )
    return block(
        backbone=families.tree(inner),
        neck=neck(s, reassembling(s, inner.hidden, bool(of["read"])), fusion(s)),
        relative_head=block("other", projection=deep, **head.children),
        metric_head=metric,
    )
