"""Sliding windows and chunks of attention, and the layers that have them."""

from collections.abc import Callable

from hfcount.architectures.layers.sizes import layer_count
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Spec, Window
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.text import printable, shown


def extent(c: Config, key: str, *, default: int | None = None) -> int | None:
    """The length of a window in tokens, `default` if the key is absent; null, 0 and -1 mean no window (None)."""
    size = None if c.is_null(key) else c.int(key, default=default, minimum=-1, maximum=MAX_LAYERS)
    return size if size is not None and size > 0 else None


def check_even(c: Config, layers: int, key: str = "attention_window") -> None:
    """Refuses windows that no model is built with: odd, not positive, or not one per layer.

    Source: transformers 5.23, modeling_longformer.py and modeling_led.py, which take one number or a list.
    """
    windows = c.ints(key, alone=True, default=())
    if c.has(key) and isinstance(c.value(key), list) and len(windows) != layers:
        text = f"{key} has {len(windows):,} entries, and there are {shown(int(layers))} layers that it is for."
        raise c.error(
            "list-length", text, key, "Give each layer its window, or one number for all.", expected=int(layers)
        )
    for window in windows:
        if window <= 0 or window % 2:
            text = f"{key} has {shown(int(window))}, but must have even numbers above 0."
            raise c.error("not-divisible", text, key, "Correct it.", observed=int(window))


def sliding(
    c: Config,
    near: Callable[[], Indices] | None = None,
    *,
    default: int | None = None,
    key: str = "sliding_window",
    kind: str = "sliding_attention",
) -> tuple[Window, ...]:
    """Windows in the layers that layer_types calls `kind`.

    Args:
        near: the layers with windows if layer_types is absent; None means no layer.
        default: the default of `key`, in tokens; None means no window.
        key: the key with the length of the window.
    """
    size, given = extent(c, key, default=default), c.strs("layer_types")
    if size is None:
        return ()
    if given:
        return within(Indices.of(place for place, entry in enumerate(given) if entry == kind), size)
    return within(near(), size) if near else ()


def sliding_everywhere(c: Config, *, default: int | None = None, key: str = "sliding_window") -> tuple[Window, ...]:
    """One window for all layers with softmax attention; `default` is the default of `key`, in tokens."""
    size = extent(c, key, default=default)
    return () if size is None else within(Indices.below(layer_count(c)), size)


def sliding_later(c: Config, *, first: int) -> tuple[Window, ...]:
    """Windows from layer max_window_layers (by default `first`) on, if use_sliding_window is true.

    Source: transformers 5.23, configuration_qwen2.py, Qwen2Config.
    """
    return (
        sliding(c, lambda: later(c, first=first), default=4096) if c.bool("use_sliding_window", default=False) else ()
    )


def within(layers: Indices, size: int) -> tuple[Window, ...]:
    """A window of `size` tokens in these layers; empty if there are no such layers."""
    return (Window(indices=layers, extent=size),) if layers.count else ()


def later(c: Config, *, first: int) -> Indices:
    """The layers from max_window_layers (by default `first`) on."""
    start = c.int("max_window_layers", default=first, minimum=0, maximum=MAX_LAYERS)
    return Indices.span(start, max(start, layer_count(c)))


def all_but_every_nth(
    c: Config, period: int, *, key: str | None = None, first: int | None = None, last: bool = False
) -> Indices:
    """All layers except the last of each period; with `last`, also without the final layer.

    Args:
        period: the length of a period, or the default of `key`.
        key: the key with the length of a period.
        first: the layer of a period that is left out instead of its last, counted from 0.
    """
    count = layer_count(c)
    period = c.int(key, default=period, minimum=1, maximum=MAX_LAYERS) if key else period
    start = period - 1 if first is None else first
    return other_than(c, range(start, max(start, count), period), range(count - 1, count) if last else range(0))


def patterned(c: Config) -> Indices:
    """The layers with a window, by sliding_window_pattern: all except the last of a period, or each L of a word.

    A word of L (local) and G (global) is repeated over the layers, of which the last is always global; null means every
    layer is global, i.e. has no window. Source: transformers 5.23, configuration_exaone4.py, Exaone4Config.
    """
    if c.is_null("sliding_window_pattern"):
        return Indices.below(0)
    if c.is_int("sliding_window_pattern") or not c.given("sliding_window_pattern"):
        return all_but_every_nth(c, 4, key="sliding_window_pattern")
    word, count = c.str("sliding_window_pattern"), layer_count(c)
    if set(word) - set("LG") or not 0 < len(word) <= 100:
        text = f"sliding_window_pattern is {printable(word, 40)}, but must be 1 to 100 letters L and G."
        raise c.error("unknown-kind", text, "sliding_window_pattern", observed=word)
    far = (range(place, max(place, count), len(word)) for place, letter in enumerate(word) if letter == "G")
    return other_than(c, *far, range(count - 1, count))


def other_than(c: Config, *some: range | Indices) -> Indices:
    """All layers that are in none of these sets."""
    rest = Indices.below(layer_count(c))
    for part in some:
        rest = rest.difference(intersection(rest, Indices.of(part) if isinstance(part, range) else part))
    return rest


def seeing_both_ways(spec: Spec) -> Spec:
    """The model as an encoder, whose tokens also see later ones: half of a window is on each side.

    Source: transformers 5.23, configuration_gemma3.py, Gemma3TextConfig.
    """
    halved = tuple(window.replace(extent=2 * (int(window.extent) // 2) + 1) for window in spec.windows)
    return spec.replace(causal=False, windows=halved)
