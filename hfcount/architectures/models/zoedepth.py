"""ZoeDepth: relative depth like DPT's, made metric by bins whose centres are adjusted (arXiv:2302.12288)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.depth import Neck, shrinking
from hfcount.architectures.layers.convolution import conv
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, derived, flag, part, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("zoedepth",)  # transformers 5.23: modeling_zoedepth.py
IGNORED = ("attractor_alpha", "attractor_gamma")

_HEADS = keys.named(ForDepthEstimation="depth_estimation")
_SEED, _PROJECTED, _LEVELS, _DEEP = 256, 128, 4, 256  # sizes that no key gives
_LAST = 4  # two for probabilities, two for a temperature


class ZoeDepth(Sizes):
    n_bins: int
    normed: bool
    attractors: tuple[int, ...]
    neck: Neck = part(Neck)
    readout: bool = derived(lambda c: c.str("readout_type", default="project") == "project")
    add_projection: bool = flag(absent=False)
    num_relative_features: int = size("d_r")
    bottleneck_features: int = size("d_n")
    bin_embedding_dim: int = size("d_b")


def spec(c: Config) -> Spec[ZoeDepth]:
    bins = c.entries("bin_configurations") or [{"n_bins": 64}]
    if len(bins) > 1:
        raise UnknownArchitecture(f"{c.where}: bin_configurations: heads for several kinds of places are unknown.")
    count = bins[0].get("n_bins") if isinstance(bins[0], dict) else None
    attractors = c.ints("num_attractors", default=(16, 8, 4, 1))
    if type(count) is not int or len(attractors) < _LEVELS:
        raise c.error(
            "list-length", "bin_configurations must give n_bins, and num_attractors four numbers.", "bin_configurations"
        )
    normed = c.choice("bin_centers_type", ("normed", "softplus"), "softplus") == "normed"
    backbone = families.backbone(c)
    sizes = ZoeDepth.read(
        c,
        n_bins=keys.dim("n_b", count),
        normed=normed,
        attractors=tuple(keys.dim(f"n{number}", count) for number, count in enumerate(attractors[:_LEVELS], 1)),
    )
    d, parts = sizes.neck.levels.fusion_hidden_size, {"backbone": backbone}
    model = keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts)
    return model.replace(causal=False).having(sizes)


def _two(inputs: int, inner: int, outputs: int) -> Block:
    return block(conv1=conv(inputs, inner, 1, bias=True), conv2=conv(inner, outputs, 1, bias=True))


def blueprint(s: Spec[ZoeDepth]) -> Block:
    sizes, levels, inner = s.own, s.own.neck.levels, s.part("backbone")
    d, narrow = levels.fusion_hidden_size, sizes.bottleneck_features
    bins, relative = sizes.bin_embedding_dim, sizes.num_relative_features
    scale = 2 if sizes.normed else 1
    adjusted = {str(place): _two(bins, bins, scale * count) for place, count in enumerate(sizes.attractors)}
    width = relative + 1 + bins
    mixed = {"0": conv(width, width // 2, 1, bias=True), "2": conv(width // 2, _LAST, 1, bias=True)}
    head = shrinking(d, relative)
    deep = conv(_DEEP, _DEEP, 3, bias=True) if sizes.add_projection else None
    metric = block(
        "other",
        conv2=conv(narrow, narrow, 1, bias=True),
        seed_bin_regressor=_two(narrow, _SEED, sizes.n_bins),
        seed_projector=_two(narrow, _PROJECTED, bins),
        projectors=Block({str(place): _two(d, _PROJECTED, bins) for place in range(_LEVELS)}),
        attractors=Block(adjusted),
        conditional_log_binomial=block(mlp=Block(mixed)),
    )
    return block(
        backbone=families.tree(inner),
        neck=sizes.neck.tensors(levels.reassembling(inner.hidden, sizes.readout)),
        relative_head=block("other", projection=deep, **head.children),
        metric_head=metric,
    )
