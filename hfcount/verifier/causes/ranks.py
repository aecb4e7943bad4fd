"""Files of one rank of several, each of which holds a part of every weight: ZeRO-3, FSDP, tensor parallelism."""

from collections.abc import Iterator
from math import prod

from hfcount.tree.dims import origin
from hfcount.tree.leaves import Leaf
from hfcount.verifier.causes.case import Case, Cause, sentence


def partitioned(case: Case) -> Iterator[Cause]:
    """Weights are empty, or flat slices of what they should be."""
    odd = case.difference.misshapen
    flat = [(leaf, row.shape[0]) for leaf, row in odd if row.shape and len(row.shape) == 1]
    sliced = [(leaf, size) for leaf, size in flat if 0 < size < prod(leaf.shape)]
    if not odd or len(flat) < len(odd) or any(size > prod(leaf.shape) for leaf, size in flat):
        return
    if not any(size for _, size in flat):
        said = "all that differ are empty: what one rank saves of weights that DeepSpeed's ZeRO-3 has partitioned"
        yield Cause(
            {"HF301"},
            sentence(said),
            "Gather them with DeepSpeed's zero_to_fp32.py, or set stage3_gather_16bit_weights_on_model_save and save"
            " again.",
        )
    elif sliced:
        leaf, size = sliced[0]
        said = (
            f"all that differ are flat or empty, such as {size:,} of the {prod(leaf.shape):,} elements of {leaf.name}"
        )
        yield Cause(
            {"HF301"},
            sentence(f"{said}: what one rank of FSDP holds of its flattened weights"),
            "Save again with FULL_STATE_DICT, or merge the shards of all ranks.",
        )


def divided(case: Case) -> Iterator[Cause]:
    """Every matrix of the layers is the same fraction of what it should be, along one of its axes."""
    cuts = {id(leaf): _cut(leaf, row.shape or ()) for leaf, row in case.difference.misshapen}
    ranks = {cut[1] for cut in cuts.values() if cut}
    if None in cuts.values() or len(ranks) != 1:
        return
    axes: dict[str, set[int]] = {}
    for leaf, _ in case.difference.misshapen:
        if cut := cuts[id(leaf)]:
            if origin(leaf.shape[cut[0]]) == origin(case.blueprint.spec.hidden):
                return  # the width of the model itself, which every rank has whole
            axes.setdefault(leaf.component, set()).add(cut[0])
    both = {component for component, found in axes.items() if found == {0, 1}}
    if "attention" in both and both & {"mlp", "experts"}:
        (many,) = ranks
        said = f"the layers' weights have 1/{many} of their rows or columns, as one of {many} tensor-parallel ranks has"
        if {"embedding", "lm_head"} & axes.keys():
            yield Cause({"HF301"}, sentence(f"{said} them"), f"Merge the files of all {many} ranks.")
        else:  # which a rank may hold whole
            yield Cause({"HF301"}, sentence(f"{said} them, unless heads and widths were pruned alike"))


def _cut(leaf: Leaf, found: tuple[int, ...]) -> tuple[int, int] | None:
    """The one axis along which a tensor is smaller, and how many times it is."""
    if len(found) != len(leaf.shape):
        return None
    smaller = [
        (axis, int(size) // own)
        for axis, (size, own) in enumerate(zip(leaf.shape, found, strict=True))
        if own and own < size and size % own == 0
    ]
    same = sum(size == own for size, own in zip(leaf.shape, found, strict=True))
    return smaller[0] if len(smaller) == 1 and same == len(found) - 1 else None
