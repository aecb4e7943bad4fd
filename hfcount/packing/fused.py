"""Scales of a layer's experts in one tensor, as transformers 5 saves mixtures in FP8."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from hfcount.packing.split import Segments
from hfcount.packing.stacks import apart, is_stack
from hfcount.storage.schemes.scheme import Scheme
from hfcount.tree.indices import Indices
from hfcount.tree.leaves import Leaf

_MATRICES = {"gate_proj": "gate_up_proj", "up_proj": "gate_up_proj", "w1": "gate_up_proj", "w3": "gate_up_proj"}
_MATRICES |= {"down_proj": "down_proj", "w2": "down_proj"}
"""The stack that an expert's matrix belongs to, by its name."""

_UNGATED = {"gate_up_proj": "up_proj"}


def fused(
    leaves: Sequence[Leaf], names: Collection[str], scheme: Scheme
) -> tuple[Sequence[Leaf], Scheme, Sequence[Leaf]]:
    """The leaves with scales of stacks, the scheme that has them, and the scales that stand beside single weights.

    All is as it was, and no scales are returned, unless the names show such scales.
    """
    suffix = scheme.fused_suffix
    if not suffix or not any(name.endswith(f"_proj{suffix}") and ".experts." in name for name in names):
        return leaves, scheme, []
    if any(is_stack(leaf) and leaf.count and leaf.first in names for leaf in leaves):
        return leaves, scheme.fused(stacked=True), []
    own = apart(leaves)
    blocks: dict[tuple[Segments, str], list[Leaf]] = {}
    for leaf in own:
        stack = _MATRICES.get(str(leaf.segments[-2])) if leaf.segments[-1] == "weight" else None
        if stack and leaf.component == "experts" and isinstance(leaf.segments[-3], Indices) and leaf.count:
            blocks.setdefault((leaf.segments[:-3], stack), []).append(leaf)
    scales = [_scale(block, stack, some, scheme) for (block, stack), some in blocks.items()]
    return [*own, *scales], scheme.fused(stacked=False), scales


def _scale(block: Segments, stack: str, weights: Sequence[Leaf], scheme: Scheme) -> Leaf:
    first = weights[0]
    experts = first.segments[-3]
    assert isinstance(experts, Indices)
    rows, columns = sum(int(leaf.shape[0]) for leaf in weights), int(first.shape[1])
    name = stack if len(weights) > 1 else _UNGATED.get(stack, stack)
    shape, dtypes = scheme.fused_scale(rows, columns, len(weights))
    count = int(first.count) // int(experts.count)
    segments = (*block, f"{name}{scheme.fused_suffix}")
    whole = (int(experts.count), *shape)
    return replace(first, segments=segments, shape=whole, count=count, active=count, linear=False, dtypes=dtypes)
