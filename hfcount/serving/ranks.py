"""What each rank of tensor parallelism holds: its share of the weights and of the cache."""

from collections.abc import Sequence

from hfcount.formats.dtypes import code
from hfcount.quantization.packing.amounts import amount
from hfcount.quantization.packing.expected import expected
from hfcount.report.serving import RankMemory
from hfcount.serving.cost import Workload, cache_width, growth, kept
from hfcount.serving.fitting import Cache, fit
from hfcount.serving.sharding.sharing import Sharing
from hfcount.serving.sharding.sizes import of_rank
from hfcount.spec.tree.leaves import Leaf


def per_rank(sharing: Sharing, weights: int | None, load: Workload) -> tuple[RankMemory, ...]:
    """The memory of a rank, for each number of ranks that is asked for.

    Args:
        weights: bytes of all weights as stored; None if unknown.
    """
    return tuple(of_ranks(sharing, ranks, weights, load) for ranks in dict.fromkeys(load.ranks))


def of_ranks(sharing: Sharing, ranks: int, weights: int | None, load: Workload) -> RankMemory:
    """The memory of each of so many ranks; for the arguments see `per_rank`."""
    if sharing.why and ranks > 1:
        return RankMemory(ranks=ranks, works=None)
    if not sharing.works(ranks):
        return RankMemory(ranks=ranks, works=False)
    share = weights if ranks == 1 else _share(sharing, ranks, weights)
    cache = None if sharing.cost.unknown else cache_of(sharing, ranks, load)
    known = cache if cache and cache.known else None
    return RankMemory(
        ranks=ranks,
        works=True,
        weights_bytes=share,
        kv_bytes_per_token=known and growth(known.kept, known.cell or 0),
        state_bytes=known and sum(part.layers * part.state for part in known.kept) * (known.cell or 0),
        **fit(share, cache, load),
    )


def cache_of(sharing: Sharing, ranks: int, load: Workload) -> Cache:
    """The cache of each of so many ranks, which can share the model; what one token costs must be known."""
    parts = sharing.cost.kept if ranks == 1 else kept(of_rank(sharing.blueprint.spec, ranks))
    return Cache(parts, cache_width(load.dtype or sharing.blueprint.spec.dtype))


def _share(sharing: Sharing, ranks: int, weights: int | None) -> int | None:
    """Bytes of a rank's weights: in the proportion that its share of the model's own tensors has to all of them."""
    total = _bytes(sharing, sharing.leaves)
    if weights is None or not total:
        return None
    return -(-weights * _bytes(sharing, sharing.rank(ranks)) // total)


def _bytes(sharing: Sharing, leaves: Sequence[Leaf]) -> int:
    stored = expected(leaves, sharing.scheme).tensors if sharing.scheme else leaves
    return amount(stored, code(sharing.blueprint.spec.dtype) or "BF16").bytes
