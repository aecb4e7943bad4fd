"""Tells experts that nothing was routed to from experts of which something was lost.

Weight decay makes an expert that no token reaches smaller with each step, and pruning makes one zero: all of its
matrices alike. What is lost is mostly one of them.
"""

from collections.abc import Collection, Sequence

from hfcount.checkpoints.data.subjects import Subject


def idle_experts(tensors: Sequence[Subject], odd: Collection[Subject]) -> frozenset[str]:
    """The names of the odd tensors whose experts are odd as a whole, where others of their layer are not.

    Args:
        tensors: matrices of a model; those of stacked experts count as none.
        odd: those of them that are far too small, or zero.
    """
    layers: dict[str, dict[str, set[str]]] = {}
    for tensor in tensors:
        if tensor.leaf is not None and tensor.leaf.component == "experts" and (expert := _expert(tensor.name)):
            layer, number = expert
            layers.setdefault(layer, {}).setdefault(number, set()).add(tensor.name)
    names = {tensor.name for tensor in odd}
    idle: set[str] = set()
    for experts in layers.values():
        odd_experts = [matrices for matrices in experts.values() if matrices <= names]
        if len(odd_experts) < len(experts):
            idle.update(*odd_experts)
    return frozenset(idle)


def _expert(name: str) -> tuple[str, str] | None:
    """The layer and the number of the expert; None of a stack, which has none."""
    before, _, behind = name.rpartition(".experts.")
    number = behind.partition(".")[0]
    return (before, number) if number.isdecimal() else None
