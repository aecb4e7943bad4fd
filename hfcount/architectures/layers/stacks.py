"""Stacks of layers: which layer is of which kind, and the blocks of a layer."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import layer_count
from hfcount.errors import ConfigError
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Layer, Layers, Mixer
from hfcount.spec.tree.dims import Dim, origin
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Node, Repeat
from hfcount.text import printable

T = TypeVar("T")


def dense_and_sparse(
    c: Config, *names: str, default: int | None = None, listed: str | None = "mlp_layer_types"
) -> tuple[Indices, Indices]:
    """The layers with one network for all tokens, and the layers with experts.

    Args:
        names: aliases of the key with the number of dense layers, which come first.
        default: that number if the key is absent; None makes it required.
        listed: the key of a list of `dense` and `sparse`, which overrides the number if present.
    """
    count = layer_count(c)
    given = c.strs(listed)[:count] if listed else []
    number = c.int(
        *names, minimum=0, maximum=MAX_LAYERS, **({} if default is None and not given else {"default": default})
    )
    if not given:
        first = min(number, count)
        return Indices.below(first), Indices.span(first, count)
    dense, sparse = listing(c, listed or "", given, "dense", "sparse")
    return dense, sparse


def dense_and_stepped(c: Config) -> tuple[Indices, Indices]:
    """As `dense_and_sparse`, by first_k_dense_replace; of the others, each moe_layer_freq-th has experts."""
    first, rest = dense_and_sparse(c, "first_k_dense_replace", default=1)
    step = c.int("moe_layer_freq", default=1, minimum=1, maximum=MAX_LAYERS)
    if step == 1 or not isinstance(rest.base, range):
        return first, rest
    every = Indices.below(layer_count(c))
    some = intersection(Indices.span(0, every.count, step), rest)
    return every.difference(some), some


def listing(c: Config, key: str, given: Sequence[T], *kinds: T, otherwise: T | None = None) -> list[Indices]:
    """The layers of each of `kinds`; `given` is the config's list under `key`, with one entry per layer.

    Any other entry counts as the kind `otherwise`; with None there may be none.
    """
    count = layer_count(c, "num_hidden_layers")
    if len(given) != count:
        raise c.unequal(key, len(given), "num_hidden_layers", count)
    if otherwise is not None:
        given = [kind if kind in kinds else otherwise for kind in given]
    for kind in set(given) - set(kinds):
        known = ", ".join(map(str, kinds))
        raise _unknown(c, key, str(kind), known)
    places: dict[T, list[int]] = {kind: [] for kind in kinds}
    for place, entry in enumerate(given):
        places[entry].append(place)
    return [entries(c, key, places[kind]) for kind in kinds]


def _unknown(c: Config, key: str, kind: str, known: str) -> ConfigError:
    """The error for an unknown kind; the reference builds most of these, but cannot run them."""
    return c.error(
        "unknown-kind",
        f"{key} names {printable(kind, 40)}, and {c.family} knows {known}.",
        key,
        observed=kind,
        built=True,
    )


def entries(c: Config, key: str, places: list[int]) -> Indices:
    """The layers with one entry in a list or text of the config; the source of their count names the entry."""
    indices, given, source = Indices.of(places), c.value(key), c.source(key)
    if places and source == c.path(key) and isinstance(given, list | str) and places[-1] < len(given):
        kind = given[places[0]]
        if places == [place for place, entry in enumerate(given) if entry == kind]:
            return indices.replace(count=Dim.named("", len(places), f"{kind} in {source}"))
    return indices


def uniform(layer: Layer, count: int) -> list[Layers]:
    """`count` layers that are all alike."""
    return [Layers(indices=Indices.below(count), layer=layer)]


def by_kind(
    c: Config,
    kinds: Mapping[str, Layer | Callable[[], Layer]],
    given: Sequence[str],
    key: str = "layer_types",
    count: int | None = None,
    otherwise: str | None = None,
) -> list[Layers]:
    """Layers by kind, from a list with the kind of each.

    Args:
        kinds: the layer of each allowed kind, or a function that makes it, called only if the kind occurs.
        given: the list, from the config's `key` or the architecture's default.
        key: the key of the list, for messages.
        count: the number of layers, by default num_hidden_layers.
        otherwise: the kind that any other kind is read as; None allows no other.
    """
    count = layer_count(c) if count is None else count
    if len(given) != count:
        raise c.unequal(key, len(given), "num_hidden_layers", count)
    places: dict[str, list[int]] = {}
    for place, kind in enumerate(given):
        places.setdefault(kind if kind in kinds else otherwise or kind, []).append(place)
    for kind in places:
        if kind not in kinds:
            known = ", ".join(kinds)
            raise _unknown(c, key, kind, known)
    made = {kind: layer if isinstance(layer, Layer) else layer() for kind, layer in kinds.items() if kind in places}
    return [Layers(indices=entries(c, key, numbers), layer=made[kind]) for kind, numbers in places.items()]


def split(*kinds: tuple[Indices, Callable[[], Layer]]) -> list[Layers]:
    """Layers by sets of numbers; an empty set is left out, and its function is not called."""
    return [Layers(indices=indices, layer=layer()) for indices, layer in kinds if indices.count]


def by_place(c: Config, some: Sequence[Indices], mixer: Mixer, other: Mixer) -> list[Layers]:
    """One kind of layers with `mixer` for each of these sets, and one with `other` for all remaining layers."""
    rest = Indices.below(layer_count(c)).difference(*some)
    return split(*((part, lambda: Layer(mixer=mixer)) for part in some), (rest, lambda: Layer(mixer=other)))


_LATER_NAMES = {
    "attention": "full_attention",
    "deepseek_sparse_attention": "indexed_attention",
    "mamba": "linear_attention",
    "qwen_sparse_attention": "indexed_attention",
}


def kinds(c: Config, *names: str) -> list[str]:
    """The kind of each layer in the config's list, under the names of transformers 5."""
    return [_LATER_NAMES.get(kind, kind) for kind in c.strs(*(names or ("layer_types", "layers_block_type")))]


def every_nth(c: Config, key: str, *, default: int | None = None, offset: str | None = None) -> Indices:
    """The last layer of each period, or the layer at `offset`; `key` is the key of the period's length."""
    count = layer_count(c)
    given = {} if default is None else {"default": default}
    period = c.int(key, minimum=1, maximum=MAX_LAYERS, **given)
    first = period - 1 if offset is None else c.int(offset, minimum=0, maximum=MAX_LAYERS)
    if first >= period:
        text = f"{offset} is {first:,}, but must be smaller than {key}, which is {period:,}."
        raise c.error("out-of-range", text, offset or key, observed=int(first))
    return Indices.span(first, count, period)


def mixed(
    c: Config, full: Mixer, other: Mixer, given: Sequence[str], places: Indices, otherwise: str | None = None
) -> list[Layers]:
    """Layers with the mixer `full`, softmax attention, or `other`: by the list `given`; if it is empty, by `places`.

    `otherwise` is the kind that any other kind is read as; None allows no other.
    """
    if given:
        known = {"full_attention": Layer(mixer=full), "linear_attention": Layer(mixer=other)}
        return by_kind(c, known, given, otherwise=otherwise)
    rest = Indices.below(layer_count(c)).difference(places)
    return split((places, lambda: Layer(mixer=full)), (rest, lambda: Layer(mixer=other)))


def combined(some: Sequence[Layers], others: Sequence[Layers]) -> list[Layers]:
    """Combines layers with mixers and layers with networks: a kind per non-empty intersection, ordered as in `some`."""
    return [
        Layers(indices=both, layer=_merged(left.layer, other.layer))
        for left in some
        for other in others
        if (both := intersection(left.indices, other.indices)).count
    ]


def _merged(left: Layer, other: Layer) -> Layer:
    if left.own is not None and other.own is not None:
        raise TypeError("of two layers that are combined only one may have sizes of its own")
    sizes = other.own if left.own is None else left.own
    return left.replace(mixer=left.mixer or other.mixer, ffn=left.ffn or other.ffn, own=sizes)


def of_two(c: Config, kinds: Mapping[str, Layer], places: Callable[[], Indices]) -> list[Layers]:
    """Layers of two kinds, by layer_types; if that is absent, the first kind is at `places`.

    Any other kind is read as the first.
    """
    if given := c.strs("layer_types"):
        return by_kind(c, kinds, given, otherwise=next(iter(kinds)))
    (first, second), at = kinds.values(), places()
    return split((at, lambda: first), (Indices.below(layer_count(c)).difference(at), lambda: second))


def indexing(c: Config) -> list[Indices]:
    """The layers with an indexer, in disjoint sets; the others use the selection of the previous one.

    By indexer_types, else index_topk_pattern (a list or letters), else every index_topk_freq-th layer.
    Source: transformers 5.23, configuration_glm_moe_dsa.py, GlmMoeDsaConfig.
    """
    count, given = layer_count(c), c.strs("indexer_types")
    if given:
        listed = listing(c, "indexer_types", given, "full", "shared")[:1]
        _confirm_schedule(c, count, listed)
        return listed
    if isinstance(c.value("index_topk_pattern"), str):
        return listing(c, "index_topk_pattern", c.str("index_topk_pattern"), "F", "S")[:1]
    if pattern := c.strs("index_topk_pattern"):
        return listing(c, "index_topk_pattern", pattern, "full", "shared")[:1]
    step = c.int("index_topk_freq", default=1, minimum=1, maximum=MAX_LAYERS)
    start = c.int("index_skip_topk_offset", default=2, maximum=MAX_LAYERS) - 1
    return _scheduled(count, start, step)


def _scheduled(count: int, start: int, step: int) -> list[Indices]:
    return [Indices.below(min(start, count)), Indices.span(start, count, step)]


def _confirm_schedule(c: Config, count: int, listed: list[Indices]) -> None:
    """Notes as read a schedule beside the list that overrides it, if both name the same layers."""
    step, offset = c.value("index_topk_freq") or 1, c.value("index_skip_topk_offset")
    offset = 2 if offset is None else offset
    if type(step) is not int or type(offset) is not int or not (0 < step <= MAX_LAYERS and 0 < offset <= MAX_LAYERS):
        return
    scheduled = _scheduled(count, offset - 1, step)
    if {place for part in scheduled for place in part} == {place for part in listed for place in part}:
        c.confirms(index_topk_freq=step, index_skip_topk_offset=offset)


_LETTERS = {"M": "linear_attention", "*": "full_attention", "-": "mlp", "E": "moe"}


def spelled(c: Config, key: str, default: str) -> list[str]:
    """Kinds of layers from a pattern of Nemotron-H, which has one letter per layer.

    The pattern is a text, or a list of letters, as mlx-lm writes it; transformers reads both.
    """
    pattern = c.strs(key) if isinstance(c.value(key), list) else c.str(key, default=default)
    return [_LETTERS.get(letter, letter) for letter in pattern]


def repeated(
    c: Config, kinds: Mapping[str, Callable[[], Layer]], given: Sequence[str], times: int
) -> tuple[Layers, ...]:
    """Layers of the `given` kinds, repeated `times` times; the first and the last of each round are marked."""
    layers = []
    for place, kind in enumerate(given):
        if kind not in kinds:
            text = f"{c.where}: layers that predict further tokens cannot be {printable(kind, 40)}."
            raise ConfigError(text, variant="unknown-kind")
        layer = kinds[kind]().replace(first=place == 0, last=place == len(given) - 1)
        indices = Indices(range(place, len(given) * times, len(given)), times)
        layers.append(Layers(indices=indices, layer=layer))
    return tuple(layers)


def hybrids(c: Config) -> Indices | None:
    """The hybrid layers in layers_block_type; all others are Mamba. None if the key is absent."""
    if c.length("layers_block_type") is None:
        return None
    given = kinds(c, "layers_block_type")
    return listing(c, "layers_block_type", given, "hybrid", "linear_attention", otherwise="linear_attention")[0]


def own_heads(c: Config, usual: GQA) -> list[Layers]:
    """Attention with num_attention_heads_per_layer; `usual` in all layers if that is absent."""
    given, count = c.ints("num_attention_heads_per_layer"), layer_count(c)
    if not given:
        return uniform(Layer(mixer=usual), count)
    key = "num_attention_heads_per_layer"
    if any(heads < 1 for heads in given):
        raise c.error(
            "out-of-range",
            f"{key} names {min(given):,}, but must name 1 and more heads.",
            key,
            observed=int(min(given)),
        )
    if any(heads % usual.kv_heads for heads in given):
        c.cannot_run(
            "not-divisible", f"{key} must name multiples of num_key_value_heads {usual.kv_heads:,}.", key, "Correct it."
        )
    numbers = sorted(set(given))
    places = listing(c, key, given, *numbers)
    return [
        Layers(indices=part, layer=Layer(mixer=usual.replace(heads=heads)))
        for part, heads in zip(places, numbers, strict=True)
    ]


_KEY = r"[A-Za-z_][\w.]*"


def numbered(c: Config, key: str) -> Indices:
    """The layers whose numbers the config lists under `key`; numbers beyond the last layer are ignored."""
    given, count = c.ints(key), layer_count(c)
    return among(c, key, given, count)


def among(c: Config, key: str, given: Sequence[int], count: int) -> Indices:
    """The layers below `count` with numbers in `given`; the source of their count names `key`."""
    indices = intersection(Indices.of(given), Indices.below(count))
    limit, _, remark = origin(count).partition(", ")
    if len({*given}) != len(given) or min(given, default=0) < 0:
        return indices  # not each of its entries is a layer
    source, _, default = c.source(key).partition(", ")
    text, absent = f"entries of {source}", bool(default) or not c.given(key)
    if indices.count < len(given):
        if absent or not re.fullmatch(_KEY, limit):
            return indices
        text, absent = f"{text} below {limit}", bool(remark)
    return indices.replace(count=Dim.named("", int(indices.count), f"{text}, by default" if absent else text))


def pre_norm(d: int, norm: Callable[[int], Block] = rms_norm, /, **branches: Node) -> Block:
    """A pre-norm layer of two branches, a mixer and a network (arXiv:2002.04745).

    Tensors: input_layernorm (d), the first of `branches`, post_attention_layernorm (d), the second.
    """
    (mixer, attention), (network, ffn) = branches.items()
    return Block({"input_layernorm": norm(d), mixer: attention, "post_attention_layernorm": norm(d), network: ffn})


def altered(common: Block, /, **children: Node | None) -> Block:
    """A block with further children; a child of the same name is replaced, or removed by None."""
    merged = {**common.children, **children}
    return Block({name: child for name, child in merged.items() if child is not None}, common.component)


def within(common: Block, /, **more: Block) -> Block:
    """A block whose child blocks get further children: those of the block with their name in `more`."""
    children = dict(common.children)
    for name, further in more.items():
        inner = children[name]
        if not isinstance(inner, Block):
            raise TypeError(f"{name} is no block")
        children[name] = Block({**inner.children, **further.children}, inner.component)
    return Block(children, common.component)


def chain(inputs: int, middle: int, outputs: int, count: int, layer: Callable[[int, int], Node]) -> tuple[Repeat, ...]:
    """`count` layers: the first from `inputs`, the last to `outputs`, all other widths are `middle`."""
    last = int(count) - 1
    if last < 1:
        return (Repeat(Indices.below(count), layer(inputs, outputs)),)
    between = Repeat(Indices(range(1, last), count - 2), layer(middle, middle))
    ends = Repeat(Indices.below(1), layer(inputs, middle)), Repeat(Indices.of([last]), layer(middle, outputs))
    return (ends[0], between, ends[1])


def stack(layers: tuple[Layers, ...], layer: Callable[[Layer], Node]) -> tuple[Node, ...]:
    """The layers by kind, each kind repeated for its layer numbers."""
    return tuple(Repeat(part.indices, layer(part.layer)) for part in layers)
