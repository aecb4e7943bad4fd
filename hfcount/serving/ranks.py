"""What each rank of tensor parallelism holds: its share of the weights and of the cache."""

from collections.abc import Sequence

from hfcount.figures import RankMemory
from hfcount.quantization.stored.amounts import amount
from hfcount.quantization.stored.expected import expected
from hfcount.serving.cost import Cost, Workload, kept
from hfcount.serving.fitting import Cache, fit
from hfcount.sharding.obstacles import Sharing
from hfcount.sharding.sizes import of_rank
from hfcount.storage.dtypes import code
from hfcount.tree.leaves import Leaf


def per_rank(
    sharing: Sharing, weights: int | None, found: Cost, cell: int | None, load: Workload
) -> tuple[RankMemory, ...]:
    """The memory of a rank, for each number of ranks that is asked for.

    Args:
        weights: bytes of all weights as stored; None if unknown.
        found: what one token costs.
        cell: bytes of a cached element; None if unknown.
    """
    return tuple(_of(sharing, ranks, weights, found, cell, load) for ranks in dict.fromkeys(load.ranks))


def _of(sharing: Sharing, ranks: int, weights: int | None, found: Cost, cell: int | None, load: Workload) -> RankMemory:
    if sharing.why:
        return RankMemory(ranks=ranks, works=None)
    if not sharing.works(ranks):
        return RankMemory(ranks=ranks, works=False)
    own = weights if ranks == 1 else _share(sharing, ranks, weights)
    parts = found.kept if ranks == 1 else kept(of_rank(sharing.blueprint.spec, ranks))
    cache = None if found.unknown else Cache(parts, cell)
    known = cache is not None and cache.known
    return RankMemory(
        ranks=ranks,
        works=True,
        weights_bytes=own,
        kv_bytes_per_token=sum(part.layers * part.per_token for part in parts) * (cell or 0) if known else None,
        state_bytes=sum(part.layers * part.state for part in parts) * (cell or 0) if known else None,
        **fit(own, cache, load),
    )


def _share(sharing: Sharing, ranks: int, weights: int | None) -> int | None:
    """Bytes of a rank's weights: in the proportion that its share of the model's own tensors has to all of them."""
    whole = _bytes(sharing, sharing.leaves)
    if weights is None or not whole:
        return None
    return -(-weights * _bytes(sharing, sharing.rank(ranks)) // whole)


def _bytes(sharing: Sharing, leaves: Sequence[Leaf]) -> int:
    stored = expected(leaves, sharing.scheme).tensors if sharing.scheme else leaves
    return amount(stored, code(sharing.blueprint.spec.dtype) or "BF16").bytes
