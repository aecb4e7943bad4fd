"""Kinds of layers in Gemma 3n and Gemma 4."""

from collections.abc import Sequence

from hfcount.architectures.keys.attention import attention
from hfcount.architectures.keys.layers import by_kind, listing
from hfcount.architectures.keys.sizes import layer_count
from hfcount.mapper import Config
from hfcount.mapper.per_layer_config import overrides
from hfcount.spec import GQA, FeedForward, Layer, Layers, Record
from hfcount.spec.tree.indices import Indices, intersection


class _Reach(Record):
    """Whether attention has a sliding window."""

    local: bool


def local_and_global(c: Config, period: int) -> list[tuple[Indices, bool]]:
    """Sets of layers, and whether their attention has a sliding window; the last layer's never has.

    Without layer_types every `period`-th layer has full attention. Source: transformers 5.23, configuration_gemma4.py,
    Gemma4TextConfig.
    """
    count, given = layer_count(c), c.strs("layer_types")
    if given:
        known = {"full_attention": Layer(own=_Reach(local=False)), "sliding_attention": Layer(own=_Reach(local=True))}
        placed = by_kind(c, known, [*given[:-1], "full_attention"], otherwise="full_attention")
        return [(part.indices, part.layer.sizes(_Reach).local) for part in placed]
    full = Indices.span(period - 1, count, period)
    last = Indices.of(() if count - 1 in full else (count - 1,))
    return [(Indices.below(count).difference(full, last), True), (full, False), (last, False)]


def attention_by_place(
    c: Config, places: Sequence[tuple[Indices, bool]], bias: bool, same: bool, kv_heads: int | None = None
) -> list[tuple[Indices, bool, GQA]]:
    """Sets of layers, whether their attention has a sliding window, and that attention.

    Layers without a window have heads of their own: by global_head_dim and num_global_key_value_heads, or by
    per_layer_config, which replaces both for any layer.

    Args:
        places: from `local_and_global`.
        bias: whether the projections have a bias.
        same: whether values are keys in layers without a window.
        kv_heads: the default of num_global_key_value_heads, if it is not num_key_value_heads.
    """

    def read(seen: Config) -> GQA:
        return attention(seen, bias=bias, qk_norm=True, head_dim=256)

    if not c.has("per_layer_config"):
        near = read(c)
        heads = (
            c.int("num_global_key_value_heads", default=kv_heads or near.kv_heads)
            if same or kv_heads
            else near.kv_heads
        )
        far = near.replace(head_dim=c.int("global_head_dim", default=512), kv_heads=heads)
        return [(indices, local, near if local else far) for indices, local in places]
    count = layer_count(c)
    own = [(Indices.of(some), seen) for some, seen in overrides(c, ("head_dim", "num_key_value_heads"), count)]
    rest = Indices.below(count).difference(*(part for part, _ in own))
    return [
        (both, local, read(seen))
        for indices, local in places
        for part, seen in ((rest, c), *own)
        if (both := intersection(indices, part)).count
    ]


def shares_kv(c: Config, layers: Sequence[Layers], default: int, ffn: FeedForward | None = None) -> list[Layers]:
    """The same layers; the last num_kv_shared_layers of them reuse keys and values of earlier layers.

    Args:
        default: the default of num_kv_shared_layers.
        ffn: the feed-forward network of the layers that reuse them, if it differs.
    """
    count, shared = layer_count(c), c.int("num_kv_shared_layers", default=default, minimum=0)
    sharing = Indices.span(count - min(count, shared), count)
    result = []
    for part in layers:
        one, late = part.layer, intersection(part.indices, sharing)
        result += [(part.indices.difference(late), one), (late, one.replace(ffn=ffn or one.ffn, shares_kv=True))]
    return [Layers(indices=indices, layer=layer) for indices, layer in result if indices.count]


def network_widths(c: Config) -> list[tuple[int, Indices]]:
    """Widths of feed-forward networks, each with its layers; intermediate_size is one number or a list per layer."""
    given = c.ints("intermediate_size", alone=True) or [c.int("intermediate_size")]
    for width in given:
        if width < 1:
            said = f"intermediate_size names {width:,}, and must name widths of 1 and more."
            raise c.error("out-of-range", said, "intermediate_size", observed=int(width))
    if len(given) == 1:
        return [(given[0], Indices.below(layer_count(c)))]
    widths = list(dict.fromkeys(given))
    return list(zip(widths, listing(c, "intermediate_size", given, *widths), strict=True))
