"""What fits into the memory of a device: weights and cache together, and how many tokens there is room for."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from hfcount.serving.cost import MixerCost, Workload

_MOST = 2**40  # tokens: whatever fits for so many does not grow


class Fit(TypedDict):
    """Fields of Memory and RankMemory."""

    kv_bytes: int | None
    total_bytes: int | None
    fits: bool | None
    largest_context: int | None


class Cache(NamedTuple):
    """A cache: what the mixers keep, at `cell` bytes an element; None if that is unknown."""

    kept: Sequence[MixerCost]
    cell: int | None

    @property
    def known(self) -> bool:
        """Whether its bytes are known: it may also be empty."""
        return self.cell is not None or not any(part.per_token or part.state for part in self.kept)

    def size(self, batch: int, context: int) -> int:
        """Bytes for so many sequences of so many tokens."""
        return batch * sum(part.elements(context) for part in self.kept) * (self.cell or 0)


def fit(weights: int | None, cache: Cache | None, load: Workload) -> Fit:
    """What weights of so many bytes and a cache take, and whether that fits; `cache` is None if it is unknown."""
    fields = Fit(kv_bytes=None, total_bytes=None, fits=None, largest_context=None)
    if cache is None or not cache.known:
        return fields
    if load.context is not None:
        size = fields["kv_bytes"] = cache.size(load.batch, load.context)
        fields["total_bytes"] = None if weights is None else weights + size
    if load.memory is not None and weights is not None:
        fields["fits"] = weights + cache.size(load.batch, load.context or 1) <= load.memory
        fields["largest_context"] = _largest(load.memory - weights, cache, load.batch)
    return fields


def _largest(room: int, cache: Cache, batch: int) -> int | None:
    """The most tokens whose cache has room; None if every number has."""
    if cache.size(batch, _MOST) <= room:
        return None
    low, high = 0, _MOST  # no tokens need no room, but neither does a model that does not fit
    while high - low > 1:
        middle = (low + high) // 2
        if cache.size(batch, middle) <= room:
            low = middle
        else:
            high = middle
    return low
