"""Vision and audio towers."""

from collections.abc import Mapping, Sequence
from typing import Unpack

from hfcount.keys.attention import multi_head
from hfcount.keys.layers import alike
from hfcount.keys.model import Fields, head_of
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, FeedForward, Head, Layer, Layers, Patches, Spec


def tower(
    c: Config,
    *,
    ffn: FeedForward | None = None,
    heads: Sequence[str] = ("num_attention_heads",),
    depth: Sequence[str] = ("num_hidden_layers",),
    further: Mapping[str, Head] | None = None,
    **more: Unpack[Fields],
) -> Spec:
    """A tower of layers that are all alike, with multi-head attention.

    Args:
        ffn: its feed-forward network, by default one with biases, intermediate_size wide.
        heads: aliases of the key with the number of heads.
        depth: aliases of the key with the number of layers.
        further: endings of class names, as in `encoding`.
        more: further fields of the Spec; `hidden` is by default hidden_size.
    """
    if "hidden" not in more:
        more["hidden"] = c.int("hidden_size")
    ffn = ffn or Dense(width=c.int("intermediate_size"), bias=True)
    layer = Layer(mixer=multi_head(c, more["hidden"], c.int(*heads, maximum=MAX_LAYERS)), ffn=ffn)
    return encoding(c, alike(layer, c.int(*depth, maximum=MAX_LAYERS)), further, **more)


def encoding(
    c: Config, layers: Sequence[Layers], further: Mapping[str, Head] | None = None, **more: Unpack[Fields]
) -> Spec:
    """The Spec of a tower with these layers: it has no vocabulary, and its tokens also see later ones.

    `further` are endings of class names beside Model and Encoder, with the head that each means.

    The class that a nested config names does not matter, since the model around it holds the base model.
    """
    known: dict[str, Head] = {"Model": "base", "Encoder": "base", **(further or {})}
    found: tuple[str, Head] = ("", "base") if c.nested else head_of(c, known)
    more["causal"], heads = False, tuple(dict.fromkeys(known.values()))
    whole = Spec(family=c.family, dtype=c.dtype(), layers=tuple(layers), heads=heads, **more)
    return whole.but(architecture=found[0], head=found[1])


def patches(c: Config, *channels: str, **more: int) -> Patches:
    """Square patches with sides of patch_size pixels; `channels` are aliases of the key with their channels."""
    return Patches(side=_side(c, "patch_size"), channels=c.int(*(channels or ("num_channels",)), default=3), **more)


def squares(c: Config) -> int:
    """The number of patches in a square image with sides of image_size pixels."""
    image, side = _side(c, "image_size"), _side(c, "patch_size")
    if side > image:
        said = f"patch_size {side:,} exceeds image_size {image:,}, so there is no patch."
        raise c.error(said, "patch_size", "Correct one.")
    return image // side * (image // side)


def _side(c: Config, key: str) -> int:
    """The side of a square; the key may give it once, or as height and width."""
    given = [] if c.is_int(key) else c.ints(key)
    if len(set(given)) > 1:
        raise c.error(f"{key} has the sides {', '.join(f'{side:,}' for side in given)}, and no square has.", key)
    return given[0] if given else c.int(key)
