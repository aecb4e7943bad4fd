"""What a model costs to serve: elements of its key/value cache and states, multiply-adds of a token's forward pass.

A cache holds what a causal model needs of earlier tokens. Softmax attention caches keys and values of h_kv heads
(arXiv:2305.13245), with a sliding window only those of its tokens (arXiv:2310.06825); latent attention caches
r_kv + h_r elements, from which all heads compute theirs (arXiv:2405.04434, section 2.1.3), and an indexer one key
(arXiv:2512.02556, section 2.1); recurrences keep a state of fixed size, and convolutions the w - 1 previous inputs. A
multiply-add is two floating-point operations.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import lcm
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.formats import dtypes
from hfcount.spec import GQA, LRU, MLA, MLSTM, RWKV, SSM, DeltaNet, Layer, Layers, Lightning, Mixer, ShortConv, Spec
from hfcount.spec.names import called
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.leaves import Leaf


class Workload(NamedTuple):
    """The load to serve: `batch` sequences of `context` tokens each, cached as `dtype` (None: the config's).

    `ranks` are numbers of ranks that each share the model, `memory` the bytes that each of them has, and `engine` whose
    share of that it has to fit in, as `engine_share` takes it. `longest` is whether the longest context that the config
    allows is meant where none is given.
    """

    context: int | None = None
    batch: int = 1
    dtype: str | None = None
    ranks: tuple[int, ...] = ()
    memory: int | None = None
    engine: str = "vllm"
    longest: bool = False

    @property
    def asked(self) -> bool:
        """Whether anything was asked about serving."""
        return bool(self.context is not None or self.ranks or self.memory)


class MixerCost(NamedTuple):
    """What one mixer of this kind caches and computes.

    Args:
        name: the kind, such as `GQA`.
        layers: the number of such mixers.
        per_token: elements cached per token, or per entry.
        state: cached elements that do not grow with the context.
        window: the most tokens that are cached; None for all.
        top_k: the most cached tokens, or entries, that are attended to; None for all.
        per_position: multiply-adds per token, or entry, that is attended to.
        per_step: multiply-adds of the state.
        merged: the tokens that one cached entry stands for; None if each token has its own.
    """

    name: str
    layers: int
    per_token: int = 0
    state: int = 0
    window: int | None = None
    top_k: int | None = None
    per_position: int = 0
    per_step: int = 0
    merged: int | None = None

    def held(self, context: int) -> int:
        """Tokens of a context that are cached, or the entries that are complete."""
        entries = context // (self.merged or 1)
        return entries if self.window is None else min(entries, self.window)

    def seen(self, context: int) -> int:
        """Tokens that the last one of a context attends to, itself included, or entries."""
        return self.held(context) if self.top_k is None else min(self.held(context), self.top_k)

    def elements(self, context: int) -> int:
        """Elements cached in all layers after `context` tokens."""
        return self.layers * (self.per_token * self.held(context) + self.state)

    def multiply_adds(self, context: int) -> int:
        """Multiply-adds in all layers for the last token of a context, without those of weight matrices."""
        return self.layers * (self.per_position * self.seen(context) + self.per_step)


def growth(parts: Iterable[MixerCost], cell: int = 1) -> int:
    """What a token adds to the cache, of `cell` bytes an element: where tokens share entries its part, rounded up."""
    return _sum([(part.layers * part.per_token * cell, part.merged or 1) for part in parts])


def attended(parts: Iterable[MixerCost]) -> int:
    """Multiply-adds per token of context: where tokens share entries its part, rounded up."""
    return _sum([(part.layers * part.per_position, part.merged or 1) for part in parts])


def _sum(quotients: Sequence[tuple[int, int]]) -> int:
    """The sum of some quotients, rounded up."""
    common = lcm(*(divisor for _, divisor in quotients))
    return -(-sum(int(number) * (common // divisor) for number, divisor in quotients) // common)


class Cost(NamedTuple):
    """What one token costs.

    Args:
        kept: by kind of mixer.
        unknown: why the cost is unknown; empty if it is known.
        matrices: multiply-adds of all weight matrices that a token uses, times the number of uses.
    """

    kept: Sequence[MixerCost] = ()
    unknown: str = ""
    matrices: int = 0


def cost(blueprint: Blueprint) -> Cost:
    """What one token costs: its cache and its multiply-adds."""
    unknown = _unknown(blueprint)
    if unknown:
        return Cost(unknown=unknown)
    return Cost(kept(blueprint.spec), matrices=int(sum(_multiplied(blueprint))))


def kept(spec: Spec) -> list[MixerCost]:
    """What the mixers of a model cache and compute, by kind."""
    return _merged(chain(_mixers(spec), _beside(spec)))


def cache_width(name: str | None) -> int | None:
    """Bytes of one cached element, by the dtype's name in a config or on the command line; None if unknown."""
    if name == "int8":
        return 1
    known = dtypes.code(name)
    return dtypes.width(known) if known else None


def _unknown(blueprint: Blueprint) -> str:
    if blueprint.spec.uncounted:
        return blueprint.spec.uncounted
    if blueprint.unmodeled and not blueprint.spec.layers:
        return "its layers are not described"
    return ""


def _mixers(spec: Spec) -> Iterator[MixerCost]:
    for part in _passed(spec):
        keeps = spec.causal and not part.layer.shares_kv
        for mixer in [mixer for mixer in (part.layer.mixer, part.layer.parallel_mixer) if mixer]:
            for layers, window in _spans(part, mixer, spec):
                for cost in _kept(mixer, spec.hidden):
                    kept = cost if keeps else cost._replace(per_token=0, state=0)
                    yield from _passes(kept._replace(layers=layers, window=window), part.layer)
        if keeps and part.layer.convolved:
            yield _of("convolution", 0, part.layer.convolved)._replace(layers=int(part.indices.count))


def _beside(spec: Spec) -> Iterator[MixerCost]:
    """What layers read beside their tokens."""
    for entry in spec.entries:
        cost = _of(entry.kind, entry.width, entry.waiting, entry.top_k, entry.products)
        yield cost._replace(layers=int(entry.indices.count), merged=int(entry.rate))


def _passes(cost: MixerCost, layer: Layer) -> Iterator[MixerCost]:
    """What each pass of a token through a layer keeps; those after the first may also read what that keeps."""
    if layer.later_window is None:
        yield cost._replace(layers=cost.layers * layer.repeats)
        return
    yield cost
    if later := cost.layers * (layer.repeats - 1):
        yield cost._replace(layers=later, per_token=0, state=0)
        yield cost._replace(layers=later, window=int(layer.later_window))


def _passed(spec: Spec) -> tuple[Layers, ...]:
    """The layers that a token passes through: the decoder's, or the encoder's if the model is not causal."""
    return spec.layers if spec.causal else spec.stack("encoder") or spec.layers


def _spans(part: Layers, mixer: Mixer, spec: Spec) -> Iterator[tuple[int, int | None]]:
    """Numbers of layers by window, in tokens; None for the layers without one."""
    rest, indices = int(part.indices.count), _plain(part.indices)
    for window in spec.windows if isinstance(mixer, GQA | MLA) else ():
        if some := int(intersection(indices, window.indices).count):
            rest -= some
            yield some, int(window.extent)
    if rest:
        yield rest, None


def _plain(indices: Indices) -> Indices:
    return Indices(indices.base, int(indices.count), indices.without)


def _kept(mixer: Mixer, hidden: int) -> Iterator[MixerCost]:
    """What one mixer caches and computes, in a causal model and without a window."""
    name = called(mixer)
    if isinstance(mixer, GQA):
        values = mixer.value_dim or mixer.head_dim
        per_position = mixer.heads * (mixer.products_per_score * mixer.head_dim + mixer.values_per_head * values)
        per_token = mixer.kv_heads * (mixer.head_dim + (0 if mixer.keys_are_values else values))
        yield _of(name, per_token, mixer.conv_cache, top_k=mixer.top_k, per_position=per_position)
        if mixer.index_dim:  # which scores blocks of tokens by the mean of their keys
            scores = -(-mixer.index_heads * mixer.index_dim // mixer.index_block)
            yield _of("indexer", mixer.index_dim, per_position=scores)
    elif isinstance(mixer, MLA):
        per_position = mixer.heads * (mixer.nope_dim + mixer.rope_dim + mixer.value_dim)
        yield _of(name, mixer.kv_lora_rank + mixer.rope_dim, top_k=mixer.top_k, per_position=per_position)
        if mixer.index_heads and mixer.index_dim:  # whose scores are summed, weighed
            yield _of("indexer", mixer.index_dim, per_position=mixer.index_heads * (mixer.index_dim + 1))
    else:
        state, per_step = _state(mixer, hidden)
        yield _of(name, 0, state, per_step=per_step)


def _state(mixer: Mixer, hidden: int) -> tuple[int, int]:
    """Elements of the state that a mixer keeps, and multiply-adds of a step."""
    match mixer:
        case DeltaNet():
            matrix = mixer.value_heads * mixer.key_dim * mixer.value_dim
            both = 2 * mixer.key_heads * mixer.key_dim if mixer.keys_convolved else 0
            channels = both + mixer.value_heads * mixer.value_dim
            return matrix + channels * (mixer.kernel - 1), 3 * matrix  # read, correct by the delta, read out
        case Lightning():
            matrix = mixer.heads * mixer.head_dim * mixer.head_dim
            return matrix, 2 * matrix
        case SSM():
            # Mamba-2 convolves what its state is written and read by too.
            channels = mixer.inner + (0 if mixer.step_rank or not mixer.heads else 2 * mixer.groups * mixer.state)
            matrix = mixer.inner * mixer.state
            return matrix + channels * (mixer.kernel - 1), 2 * matrix
        case LRU():
            return mixer.width * mixer.kernel, mixer.width
        case RWKV() if mixer.head_dim:
            matrix = mixer.width * mixer.head_dim
            return matrix + 2 * hidden, 3 * matrix  # read, correct by the delta, read out
        case RWKV():
            # Two sums and the largest exponent among them; the inputs before, of the mixer and of the network.
            return 3 * mixer.width + 2 * hidden, 4 * mixer.width
        case MLSTM():
            matrix = mixer.key_dim * mixer.value_dim // mixer.heads
            return matrix + mixer.key_dim + mixer.heads, 2 * (matrix + mixer.key_dim)
        case ShortConv():
            return hidden * (mixer.kernel - 1), 0
    return 0, 0


def _of(
    name: str, per_token: int, state: int = 0, top_k: int | None = None, per_position: int = 0, per_step: int = 0
) -> MixerCost:
    most = None if top_k is None else int(top_k)
    return MixerCost(
        name, 1, int(per_token), int(state), top_k=most, per_position=int(per_position), per_step=int(per_step)
    )


def _merged(parts: Iterator[MixerCost]) -> list[MixerCost]:
    layers: dict[MixerCost, int] = {}
    for part in parts:
        cost = part._replace(layers=1)
        layers[cost] = layers.get(cost, 0) + part.layers
    return [cost._replace(layers=count) for cost, count in layers.items()]


def _multiplied(blueprint: Blueprint) -> Iterator[int]:
    """Elements of the matrices that a token is multiplied with, so not of lookup tables and vectors."""
    for leaf in blueprint.leaves:
        if leaf.component == "lm_head" and leaf.tied_to and _is_matrix(leaf):
            yield leaf.elements
        elif leaf.counted and leaf.component not in _ASIDE and _is_matrix(leaf) and not _is_table(leaf):
            yield leaf.active_elements * leaf.repeats


_ASIDE = ("vision", "audio", "projector")
"""Components that text tokens skip."""

_ADDED = ("bias", "ape")
"""Endings of tensors that are added, although they look like matrices: stacked biases, and places within a group."""


def _is_matrix(leaf: Leaf) -> bool:
    if leaf.linear or str(leaf.segments[-1]).endswith(_ADDED):
        return leaf.linear
    return sum(extent > 1 for extent in leaf.shape) > 1 or (leaf.component == "router" and len(leaf.shape) == 2)


def _is_table(leaf: Leaf) -> bool:
    """Whether it is a lookup table: an embedding that is neither a linear map nor a convolution of patches."""
    return leaf.component == "embedding" and not leaf.linear and sum(extent > 1 for extent in leaf.shape) == 2
