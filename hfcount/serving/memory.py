"""Memory and compute that serving a model takes, in bytes and multiply-adds."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.formats.dtypes import BITS, code, width
from hfcount.mapper.context_length import Length
from hfcount.mapper.quantization_config import Announcement
from hfcount.report.figures import Storage
from hfcount.report.serving import CachePart, Compute, Memory, Serving
from hfcount.serving.cost import Cost, Workload, attended, cache_width, cost, growth
from hfcount.serving.fitting import Cache, fit
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Outcome
from hfcount.verifier.policy import Policy

if TYPE_CHECKING:
    from hfcount.serving.sharding.sharing import Sharing


class Served(NamedTuple):
    """What serving a model takes, and answers to what was asked, with the findings that say why one is no."""

    memory: Memory
    compute: Compute
    storage: Storage | None = None
    serving: Serving | None = None
    refusals: Sequence[Finding] = ()


def serve(
    blueprint: Blueprint,
    load: Workload,
    announced: Sequence[Announcement],
    outcome: Outcome,
    policy: Policy,
    *,
    limit: Length | None,
    held: Mapping[str, int] | None,
    total_size: int | None,
    engines: bool,
    asked: Collection[str] = (),
) -> Served:
    """All that a report shows about serving a model.

    Args:
        outcome: of comparing the model with its weights.
        limit: the tokens that the config allows; None if it has no limit.
        engines: whether the engines whose defaults are known serve it.
        asked: the libraries whose verdict is asked for; of engines the rules of sharing are theirs.
        others: as for `costs`.
    """
    if load.longest and load.context is None and limit and load.asked:
        load = load._replace(context=limit.tokens)
    storage, sharing = None, None
    if announced:
        from hfcount.serving.storage import storage as stored  # most checkpoints are not quantised

        storage = stored(blueprint, announced, outcome)
    if load.asked:
        from hfcount.serving.sharding.sharing import Sharing  # rarely asked for

        sharing = Sharing(blueprint, announced, asked)
    memory, compute = costs(
        blueprint,
        load,
        announced,
        dtypes=outcome.dtypes,
        held=held,
        total_size=total_size,
        storage=storage,
        sharing=sharing,
    )
    if sharing is None:
        return Served(memory, compute, storage)
    from hfcount.serving.answers import answers

    return Served(memory, compute, storage, *answers(sharing, memory, load, policy, limit, engines))


def costs(
    blueprint: Blueprint,
    load: Workload,
    announced: Sequence[Announcement] = (),
    *,
    dtypes: Mapping[str, int] | None = None,
    held: Mapping[str, int] | None = None,
    total_size: int | None = None,
    storage: Storage | None = None,
    sharing: "Sharing | None" = None,
) -> tuple[Memory, Compute]:
    """Memory and compute that serving a model takes.

    Args:
        announced: what announces that weights are quantised.
        dtypes: elements that are stored, by dtype, if headers were read.
        held: bytes that are stored, by type, of a container whose types are not those of safetensors.
        total_size: bytes of the weights by the index, if there is one.
        storage: how quantised weights are stored, if that is known.
        sharing: how ranks share the model, if that is asked for.
    """
    token_cost = sharing.cost if sharing else cost(blueprint)
    weights: _Weights
    if held is not None:
        weights = sum(held.values()), dict(held), None
    elif dtypes is not None:
        weights = _bytes(dtypes)
    elif total_size:
        weights = total_size, None, None
    else:
        weights = _by_config(blueprint, announced[0].name if announced else None, storage)
    memory = _memory(blueprint, token_cost, load, weights)
    if load.ranks and sharing:
        from hfcount.serving.ranks import per_rank  # rarely asked for

        memory = memory.replace(
            tensor_parallel=None if sharing.why else sharing.working,
            ranks=per_rank(sharing, memory.weights_bytes, load),
            ranks_why=sharing.why or None,
        )
    return memory, _compute(token_cost, load.context)


_Weights = tuple[int | None, dict[str, int] | None, str | None]
"""Bytes of the weights, the same by dtype, and why they are unknown."""


def _memory(blueprint: Blueprint, token_cost: Cost, load: Workload, amounts: _Weights) -> Memory:
    """Bytes of the weights as stored, and of the cache and states."""
    dtype = load.dtype or blueprint.spec.dtype
    cell = cache_width(dtype)
    weights, by_dtype, why = amounts
    keeps = any(part.per_token or part.state for part in token_cost.kept)
    known = not token_cost.unknown and not (keeps and cell is None)

    def size(elements: int) -> int | None:
        """Bytes of cached elements; None if something is cached and its dtype is unknown."""
        return elements * (cell or 0) if known else None

    no_dtype = None if cell or not keeps else "the config names no dtype for the KV cache: set one with --kv-dtype"
    return Memory(
        weights_bytes=weights,
        weights=by_dtype,
        weights_why=why,
        kv_dtype=printable(dtype) if dtype else None,
        kv_bytes_per_token=growth(token_cost.kept, cell or 0) if known else None,
        state_bytes=size(sum(part.layers * part.state for part in token_cost.kept)),
        context=load.context,
        batch=load.batch,
        available_bytes=load.memory,
        **fit(weights, None if token_cost.unknown else Cache(token_cost.kept, cell), load),
        parts=tuple(
            CachePart(
                kind=part.name,
                layers=part.layers,
                bytes_per_token=size(part.per_token),
                state_bytes=size(part.state),
                window=part.window,
                picked=part.top_k,
                merged=part.merged,
            )
            for part in token_cost.kept
        ),
        why=token_cost.unknown or no_dtype,
    )


def _compute(token_cost: Cost, context: int | None) -> Compute:
    """Multiply-adds of one token's forward pass."""
    if token_cost.unknown:
        return Compute(context=context)
    at_context = (
        None if context is None else token_cost.matrices + sum(part.multiply_adds(context) for part in token_cost.kept)
    )
    return Compute(
        per_token=token_cost.matrices + sum(part.layers * part.per_step for part in token_cost.kept),
        per_position=attended(token_cost.kept),
        context=context,
        at_context=at_context,
    )


def _bytes(dtypes: Mapping[str, int]) -> _Weights:
    by_dtype = {name: elements * BITS[name] // 8 for name, elements in dtypes.items()}
    return sum(by_dtype.values()), by_dtype, None


def _by_config(blueprint: Blueprint, quant_method: str | None, storage: Storage | None) -> _Weights:
    declared = code(blueprint.spec.dtype)
    if storage:
        return storage.bytes, {name: elements * BITS[name] // 8 for name, elements in storage.dtypes.items()}, None
    if quant_method:
        return (
            None,
            None,
            f"the weights are quantised ({quant_method}): their bytes are known only from the index or headers",
        )
    if declared is None:
        return None, None, "the config names no dtype"
    if blueprint.unmodeled:
        return None, None, "hfcount does not know all parts of it"
    size = sum(leaf.elements for leaf in blueprint.stored_leaves()) * width(declared)
    return size, {declared: size}, None
