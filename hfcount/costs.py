"""Memory and compute, as the report says them."""

from hfcount.measures import Blueprint
from hfcount.report import CachePart, Compute, Evidence, Memory
from hfcount.serving import Cost, Load, cache_width, cost
from hfcount.storage.dtypes import BITS, code, width
from hfcount.text import printable


def costs(plan: Blueprint, evidence: Evidence | None, load: Load) -> tuple[Memory, Compute]:
    """What serving a model takes."""
    found = cost(plan)
    return _memory(plan, found, evidence, load), _compute(found, load.context)


def _memory(plan: Blueprint, found: Cost, evidence: Evidence | None, load: Load) -> Memory:
    """Bytes of the weights as they are stored, and of what a model keeps of earlier tokens."""
    dtype = load.dtype or plan.spec.dtype
    cell = cache_width(dtype)
    weights, by_dtype = _weights(plan, evidence)

    def size(elements: int) -> int | None:
        return None if cell is None or found.unknown else elements * cell

    context = load.context
    held = None if context is None else size(load.batch * sum(part.elements(context) for part in found.kept))
    no_dtype = None if cell else "the config names no dtype for keys and values: give one with --kv-dtype"
    return Memory(
        weights_bytes=weights,
        weights=by_dtype,
        kv_dtype=printable(dtype) if dtype else None,
        kv_bytes_per_token=size(sum(part.layers * part.per_token for part in found.kept)),
        state_bytes=size(sum(part.layers * part.state for part in found.kept)),
        context=context,
        batch=load.batch,
        kv_bytes=held,
        parts=tuple(
            CachePart(
                kind=part.name,
                layers=part.layers,
                bytes_per_token=size(part.per_token),
                state_bytes=size(part.state),
                window=part.window,
            )
            for part in found.kept
        ),
        why=found.unknown or no_dtype,
    )


def _compute(found: Cost, context: int | None) -> Compute:
    """Multiply-adds of one token's way through the model."""
    if found.unknown:
        return Compute(context=context)
    at_context = None if context is None else found.matrices + sum(part.multiply_adds(context) for part in found.kept)
    return Compute(
        per_token=found.matrices + sum(part.layers * part.step for part in found.kept),
        per_position=sum(part.layers * part.reach for part in found.kept),
        context=context,
        at_context=at_context,
    )


def _weights(plan: Blueprint, evidence: Evidence | None) -> tuple[int | None, dict[str, int] | None]:
    """Bytes of what is stored, and the same by dtype: as it was seen, or else as the config has it."""
    if evidence and evidence.dtypes is not None:
        by_dtype = {name: elements * BITS[name] // 8 for name, elements in evidence.dtypes.items()}
        return sum(by_dtype.values()), by_dtype
    if evidence and evidence.total_size:
        return evidence.total_size, None
    declared = code(plan.spec.dtype)
    if declared is None or plan.asides:
        return None, None
    size = sum(leaf.elements for leaf in plan.stored_leaves()) * width(declared)
    return size, {declared: size}
