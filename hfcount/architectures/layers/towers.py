"""Vision and audio towers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Unpack

from hfcount.architectures.layers.attention import Indivisible, multi_head
from hfcount.architectures.layers.model import Fields, Heads, decoder_spec, head_of
from hfcount.architectures.layers.sizes import dim
from hfcount.architectures.layers.stacks import uniform
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, FeedForward, Head, Layer, Layers, Patches, Spec
from hfcount.spec.tree.indices import Indices


def tower(
    c: Config,
    *,
    ffn: FeedForward | None = None,
    heads: Sequence[str] = ("num_attention_heads",),
    depth: Sequence[str] = ("num_hidden_layers",),
    indivisible: Indivisible = "refused",
    bias: bool = True,
    own_width: bool = False,
    further: Mapping[str, Head] | None = None,
    **more: Unpack[Fields],
) -> Spec:
    """A tower of layers that are all alike, with multi-head attention.

    Args:
        ffn: its feed-forward network, by default one with biases, intermediate_size wide.
        heads: aliases of the key with the number of heads.
        depth: aliases of the key with the number of layers.
        indivisible: how the class handles heads that do not divide the width.
        bias: whether the projections of attention have a bias.
        own_width: whether head_dim, if given, is the width of a head.
        further: endings of class names, as in `encoding`.
        more: further fields of the Spec; `hidden` is by default hidden_size.
    """
    if "hidden" not in more:
        more["hidden"] = c.int("hidden_size")
    ffn = ffn or Dense(width=c.int("intermediate_size"), bias=True)
    count = c.int(*heads, maximum=MAX_LAYERS)
    mixer = multi_head(c, more["hidden"], count, bias=bias, indivisible=indivisible, own_width=own_width)
    layer = Layer(mixer=mixer, ffn=ffn)
    return encoding(c, uniform(layer, c.int(*depth, maximum=MAX_LAYERS)), further, **more)


def encoding(
    c: Config, layers: Sequence[Layers], further: Mapping[str, Head] | None = None, **more: Unpack[Fields]
) -> Spec:
    """The Spec of a tower with these layers: it has no vocabulary, and its tokens also see later ones.

    `further` maps endings of class names, besides Model and Encoder, to heads. The class in a nested config is ignored:
    the model around it holds the base model.
    """
    known: dict[str, Head] = {"Model": "base", "Encoder": "base", **(further or {})}
    named: tuple[str, Head] = ("", "base") if c.nested else head_of(c, known)
    more["causal"], heads = False, tuple(dict.fromkeys(known.values()))
    spec = Spec(family=c.family, dtype=c.dtype(), layers=tuple(layers), heads=heads, **more)
    return spec.replace(architecture=named[0], head=named[1])


COARSER = "its layers see an image at several scales, so there is no cost of one token"
"""Reason why there is no cost per token: later layers see fewer places than earlier ones."""


def imaging(c: Config, layers: Sequence[Layers], heads: Heads, default_labels: int = 2, **more: Unpack[Fields]) -> Spec:
    """The Spec of a model of images or videos with these layers, with the head of its class.

    Within another model it is the base model, regardless of the class in the nested config.
    """
    if c.nested:
        return encoding(c, layers, **more)
    more.setdefault("layer_count", None)
    more.setdefault("vocab", 0)
    return decoder_spec(c, layers, heads=heads, default_labels=default_labels, **more).replace(causal=False)


def attending(part: Spec, width: int) -> Spec:
    """The part with layers that attend to a memory of this `width`."""
    layers = [kind.replace(layer=kind.layer.replace(memory=dim("d_e", width))) for kind in part.layers]
    return part.replace(layers=tuple(layers))


def reconstructing(c: Config, bias: bool, indivisible: Indivisible = "refused", own_width: bool = False) -> Spec:
    """The decoder of a masked autoencoder (arXiv:2111.06377), by the keys that begin with `decoder_`.

    `bias` is the bias of queries, keys and values; the other parameters are as in `multi_head`.
    """
    d, heads = c.int("decoder_hidden_size"), c.int("decoder_num_attention_heads")
    ffn = Dense(width=c.int("decoder_intermediate_size"), bias=True)
    mixer = multi_head(c, d, heads, qkv_bias=bias, indivisible=indivisible, own_width=own_width)
    layer = Layer(mixer=mixer, ffn=ffn)
    count = c.int("decoder_num_hidden_layers", maximum=MAX_LAYERS)
    return Spec(family=c.family, hidden=d, layers=tuple(uniform(layer, count)), causal=False)


def patches(c: Config, *channels: str, **more: int) -> Patches:
    """Square patches with sides of patch_size pixels; `channels` are aliases of num_channels."""
    return Patches(side=_side(c, "patch_size"), channels=c.int(*(channels or ("num_channels",)), default=3), **more)


def squares(c: Config, key: str = "image_size") -> int:
    """The number of patches in a square image with sides of `key` pixels."""
    side = grid(c, key)
    return side * side


def grid(c: Config, key: str = "image_size") -> int:
    """The number of patches along a side of a square image, `key` pixels long."""
    image, side = _side(c, key), _side(c, "patch_size")
    if side > image:
        text = f"patch_size {side:,} exceeds {key} {image:,}, so there is no patch."
        c.cannot_run("out-of-range", text, "patch_size", "Correct one.")
    return image // side


def rectangle(c: Config) -> int:
    """The number of patches in an image; image_size and patch_size may be pairs of height and width."""
    (high, wide), (tall, broad) = sides(c, "image_size"), sides(c, "patch_size")
    if tall > high or broad > wide:
        c.cannot_run(
            "out-of-range", "patch_size exceeds image_size, so there is no patch.", "patch_size", "Correct one."
        )
    return high // tall * (wide // broad)


def sides(c: Config, key: str) -> tuple[int, int]:
    """Height and width; a single number means both."""
    given = [c.int(key)] if c.is_int(key) else c.ints(key)
    if not 0 < len(given) <= 2 or any(side < 1 for side in given):
        raise c.error("list-length", f"{key} must be a size, or height and width.", key)
    return given[0], given[-1]


def _side(c: Config, key: str) -> int:
    """The side of a square; the key holds one number, or equal height and width."""
    given = [] if c.is_int(key) else c.ints(key)
    if any(side < 1 for side in given):
        raise c.error(
            "out-of-range", f"{key} names {min(given):,}, but must name 1 and more.", key, observed=int(min(given))
        )
    if len(set(given)) > 1:
        raise c.error(
            "out-of-range", f"{key} has the sides {', '.join(f'{side:,}' for side in given)}, and no square has.", key
        )
    return given[0] if given else c.int(key)


def stages(
    c: Config,
    widths: Sequence[int],
    wide: Callable[[int], int] | Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    *,
    bias: bool = True,
    indivisible: Indivisible = "refused",
    depths: Sequence[int] | None = None,
    own: Sequence[object] | None = None,
) -> list[Layers]:
    """Stages of layers of different widths, by the key depths.

    Args:
        widths: the width of each stage.
        wide: the width of the network of a layer, for each stage or by the width of the stage; None if there is none.
        heads: the number of heads in each stage, if its layers attend.
        bias: whether queries, keys and values have a bias.
        indivisible: how the class handles heads that do not divide the width.
        depths: the number of layers in each stage, instead of the key depths.
        own: the `Layer.own` of each stage.
    """
    depths = (c.ints("depths") if depths is None else depths)[: len(widths)]
    if not depths or len({len(depths), len(widths), len(depths if heads is None else heads)}) > 1:
        text = (
            f"depths has {len(depths):,} entries for {len(widths):,} widths and {len(heads or ()):,} numbers of heads."
        )
        raise c.error("list-length", text, "depths", "Correct one of them.")
    if min(depths) < 0:
        raise c.error("out-of-range", f"depths names {min(depths):,}, and no stage has fewer than 0 layers.", "depths")
    layers = []
    for number, (depth, width) in enumerate(zip(depths, widths, strict=True)):
        d = dim(f"d{number + 1}", width)
        mixer = multi_head(c, d, heads[number], qkv_bias=bias, indivisible=indivisible) if heads else None
        ffn = Dense(width=wide(d) if callable(wide) else wide[number], bias=True) if wide else None
        layer = Layer(mixer=mixer, ffn=ffn, stage_width=d, own=own[number] if own else None)
        layers.append(Layers(indices=Indices.below(depth), layer=layer))
    return layers


def each(c: Config, key: str, count: int, symbol: str = "", default: Sequence[int] | None = None) -> list[int]:
    """The first `count` sizes in the list of a key, one per stage, with the symbol and the stage's number."""
    given = c.ints(key, default=default, minimum=0)[:count]
    if len(given) < count:
        text = f"{key} has {len(given):,} entries, and there are {count:,} stages."
        raise c.error("list-length", text, key, "Correct one of them.", expected=int(count), observed=len(given))
    return [dim(f"{symbol}{number}", size) if symbol else size for number, size in enumerate(given, 1)]
