"""Scales of all experts of a layer in one tensor, as transformers 5.23 saves FP8 mixtures."""

from collections.abc import Collection, Sequence

from hfcount.quantization.packing.split import Segments
from hfcount.quantization.packing.stacks import apart, is_stack
from hfcount.quantization.scheme import Scheme
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf

_MATRICES = {"gate_proj": "gate_up_proj", "up_proj": "gate_up_proj", "w1": "gate_up_proj", "w3": "gate_up_proj"}
_MATRICES |= {"down_proj": "down_proj", "w2": "down_proj"}
"""The stack that an expert's matrix belongs to, by its name."""

_LINEAR = {"input_linear": "gate_up_proj", "output_linear": "down_proj"}
"""The same where the stacks themselves have other names on disk, and their scales keep those in memory."""

_UNGATED = {"gate_up_proj": "up_proj"}


def fused(
    leaves: Sequence[Leaf], names: Collection[str], scheme: Scheme
) -> tuple[Sequence[Leaf], Scheme, Sequence[Leaf]]:
    """The leaves with scales of stacks, the scheme that has them, and the scales beside weights of other names.

    All is as it was, and no scales are returned, unless the names show such scales.
    """
    suffix = scheme.fused_suffix
    if not suffix or not any(".experts." in name and name.endswith(f"_proj{suffix}") for name in names):
        return leaves, scheme, []
    stacks = [leaf for leaf in leaves if is_stack(leaf) and leaf.count and leaf.first in names]
    linear = [leaf for leaf in stacks if leaf.segments[-1] == "weight" and str(leaf.segments[-2]) in _LINEAR]
    if linear:
        scales = [_beside(leaf, scheme) for leaf in linear]
        return [*leaves, *scales], scheme.fused(stacked=True, beside=False), scales
    if stacks:
        return leaves, scheme.fused(stacked=True), []
    expert_leaves = apart(leaves)
    scales = [_scale(block, stack, weights, scheme) for (block, stack), weights in _experts(expert_leaves).items()]
    return [*expert_leaves, *scales], scheme.fused(stacked=False), scales


def _experts(leaves: Sequence[Leaf]) -> dict[tuple[Segments, str], list[Leaf]]:
    """The weights of experts by the block of their layer and the stack that they belong to."""
    weights: dict[tuple[Segments, str], list[Leaf]] = {}
    for leaf in leaves:
        stack = _MATRICES.get(str(leaf.segments[-2])) if leaf.segments[-1] == "weight" else None
        if stack and leaf.component == "experts" and isinstance(leaf.segments[-3], Indices) and leaf.count:
            weights.setdefault((leaf.segments[:-3], stack), []).append(leaf)
    return weights


def _beside(stack: Leaf, scheme: Scheme) -> Leaf:
    """The scales of a stack that has another name than they."""
    experts, rows, columns = map(int, stack.shape)
    name = _LINEAR[str(stack.segments[-2])]
    shape, dtypes = scheme.fused_scale(rows, columns, 2 if name == "gate_up_proj" else 1)
    segments = (*stack.segments[:-2], "experts", f"{name}{scheme.fused_suffix}")
    return stack.replace(segments=segments, shape=(experts, *shape), dtypes=dtypes)


def _scale(block: Segments, stack: str, weights: Sequence[Leaf], scheme: Scheme) -> Leaf:
    first = weights[0]
    experts = first.segments[-3]
    assert isinstance(experts, Indices)
    rows, columns = sum(int(leaf.shape[0]) for leaf in weights), int(first.shape[1])
    name = stack if len(weights) > 1 else _UNGATED.get(stack, stack)
    shape, dtypes = scheme.fused_scale(rows, columns, len(weights))
    count = int(first.count) // int(experts.count)
    segments = (*block, f"{name}{scheme.fused_suffix}")
    stack_shape = (int(experts.count), *shape)
    return first.replace(segments=segments, shape=stack_shape, count=count, active=count, linear=False, dtypes=dtypes)
