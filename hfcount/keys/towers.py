"""Towers that see and hear."""

from collections.abc import Sequence
from typing import Any

from hfcount.errors import ConfigError
from hfcount.keys.attention import multi_head
from hfcount.keys.frame import head_of
from hfcount.keys.layers import alike
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, FeedForward, Layer, Layers, Patches, Spec


def tower(
    c: Config,
    *,
    ffn: FeedForward | None = None,
    hidden: int | None = None,
    heads: Sequence[str] = ("num_attention_heads",),
    depth: Sequence[str] = ("num_hidden_layers",),
    **more: Any,
) -> Spec:
    """A tower of layers that are all alike, with attention whose heads share the width.

    Args:
        ffn: its feed-forward network, which has biases and intermediate_size when left out.
        hidden: its width, hidden_size when left out.
        heads: what the number of heads may be called; depth: what that of layers may be.
        more: further fields of the Spec.
    """
    d = c.int("hidden_size") if hidden is None else hidden
    ffn = ffn or Dense(width=c.int("intermediate_size"), bias=True)
    layer = Layer(mixer=multi_head(c, d, c.int(*heads, maximum=MAX_LAYERS)), ffn=ffn)
    return encoding(c, d, alike(layer, c.int(*depth, maximum=MAX_LAYERS)), **more)


def encoding(c: Config, hidden: int, layers: list[Layers], **more: Any) -> Spec:
    """What stands around the layers of a tower: it has no vocabulary, and its tokens see those behind them, too.

    What class the config of a part names does not matter, since the model around holds the base of it.
    """
    architecture = "" if c.nested else head_of(c, ("Model", "Encoder"))[0]
    fields: dict[str, Any] = {"architecture": architecture, "dtype": c.dtype(), "heads": ("base",), "causal": False}
    return Spec(family=c.family, hidden=hidden, layers=tuple(layers), **{**fields, **more})


def patches(c: Config, *channels: str, **more: int) -> Patches:
    """Square patches of patch_size pixels; `channels` is what their number of colours may be called."""
    return Patches(side=c.int("patch_size"), channels=c.int(*(channels or ("num_channels",)), default=3), **more)


def squares(c: Config) -> int:
    """How many patches of patch_size an image of image_size has."""
    image, side = c.int("image_size"), c.int("patch_size")
    if side > image:
        raise ConfigError(
            f"{c.where}: patch_size {side:,} exceeds image_size {image:,}, so there is no patch. Correct one."
        )
    return image // side * (image // side)
