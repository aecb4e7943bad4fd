"""Vision and audio towers."""

from collections.abc import Sequence
from typing import Unpack

from hfcount.keys.attention import Uneven, multi_head
from hfcount.keys.layers import alike
from hfcount.keys.model import Fields, head_of
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, FeedForward, Layer, Layers, Patches, Spec


def tower(
    c: Config,
    *,
    ffn: FeedForward | None = None,
    heads: Sequence[str] = ("num_attention_heads",),
    depth: Sequence[str] = ("num_hidden_layers",),
    uneven: Uneven = "refused",
    bias: bool = True,
    **more: Unpack[Fields],
) -> Spec:
    """A tower of layers that are all alike, with multi-head attention.

    Args:
        ffn: its feed-forward network, by default one with biases, intermediate_size wide.
        heads: aliases of the key with the number of heads.
        depth: aliases of the key with the number of layers.
        uneven: what becomes of a config whose heads do not divide the width.
        bias: whether the projections of attention have a bias.
        more: further fields of the Spec; `hidden` is by default hidden_size.
    """
    if "hidden" not in more:
        more["hidden"] = c.int("hidden_size")
    ffn = ffn or Dense(width=c.int("intermediate_size"), bias=True)
    mixer = multi_head(c, more["hidden"], c.int(*heads, maximum=MAX_LAYERS), bias=bias, uneven=uneven)
    layer = Layer(mixer=mixer, ffn=ffn)
    return encoding(c, alike(layer, c.int(*depth, maximum=MAX_LAYERS)), **more)


def encoding(c: Config, layers: Sequence[Layers], **more: Unpack[Fields]) -> Spec:
    """The Spec of a tower with these layers: it has no vocabulary, and its tokens also see later ones.

    The class that a nested config names does not matter, since the model around it holds the base model.
    """
    name = "" if c.nested else head_of(c, {"Model": "base", "Encoder": "base"})[0]
    more["causal"] = False
    return Spec(family=c.family, architecture=name, dtype=c.dtype(), layers=tuple(layers), heads=("base",), **more)


def patches(c: Config, *channels: str, **more: int) -> Patches:
    """Square patches with sides of patch_size pixels; `channels` are aliases of the key with their channels."""
    return Patches(side=c.int("patch_size"), channels=c.int(*(channels or ("num_channels",)), default=3), **more)


def squares(c: Config) -> int:
    """The number of patches in a square image with sides of image_size pixels."""
    image, side = c.int("image_size"), c.int("patch_size")
    if side > image:
        said = f"patch_size {side:,} exceeds image_size {image:,}, so there is no patch."
        c.cannot_run(said, "patch_size", "Correct one.")
    return image // side * (image // side)
