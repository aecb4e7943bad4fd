"""Cause: the files of one rank only, with a slice of every weight (ZeRO-3, FSDP, tensor parallelism)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from hfcount.spec.tree.dims import origin
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.causes.case import Case, Cause, sentence
from hfcount.verifier.causes.stored_rows import Row

_LAYERS = ("attention", "mlp", "experts")  # components whose matrices no rank has whole


def partitioned(case: Case) -> Iterator[Cause]:
    """Weights are empty, or flat slices of what they should be."""
    odd = case.difference.misshapen
    flat = [(leaf, row.shape[0]) for leaf, row in odd if row.shape and len(row.shape) == 1]
    if not odd or len(flat) < len(odd):
        return
    if not any(size for _, size in flat):
        if not _all_elsewhere(case):
            return
        text = "all tensors that differ are empty, as when one rank saves weights that DeepSpeed ZeRO-3 has partitioned"
        yield Cause(
            {"HF301"},
            sentence(text),
            "Gather them with DeepSpeed's zero_to_fp32.py, or set stage3_gather_16bit_weights_on_model_save and save"
            " again.",
        )
    elif (sliced := [(leaf, size) for leaf, size in flat if 0 < size < prod(leaf.shape)]) and _one_slice_each(case):
        leaf, size = max(sliced, key=lambda pair: len(pair[0].shape))
        text = (
            f"all tensors that differ are flat or empty, such as {size:,} of the {prod(leaf.shape):,} elements of"
            f" {leaf.name}"
        )
        yield Cause(
            {"HF301"},
            sentence(f"{text}. One FSDP rank holds flattened weights like that"),
            "Save again with FULL_STATE_DICT, or merge the shards of all ranks.",
        )


def _stored(case: Case) -> Iterator[tuple[Leaf, Row]]:
    """The parameters that are stored, by rows of one shape."""
    for leaf, rows in case.difference.pairs:
        if leaf.kind != "buffer" and leaf.presence != "obsolete":
            yield from ((leaf, row) for row in rows if row.shape is not None)


def _all_elsewhere(case: Case) -> bool:
    """Whether what is empty is all that ZeRO-3 partitions: the layers' matrices, and what is not smaller than those."""
    empty = [leaf for leaf, row in _stored(case) if row.shape == (0,)]
    other = [leaf for leaf, row in _stored(case) if row.shape != (0,)]
    if any(len(leaf.shape) > 1 and leaf.indices and leaf.component in _LAYERS for leaf in other):
        return False
    least, most = min(leaf.size for leaf in empty), max((leaf.size for leaf in other), default=0)
    return most < least and any(len(leaf.shape) > 1 for leaf in empty)


@dataclass
class _Unit:
    """A unit that FSDP flattens: a layer, or everything outside of layers. Numbers of tensors and of elements."""

    matrices: int = 0
    unsliced: int = 0
    partial: int = 0
    held: int = 0
    size: int = 0


def _one_slice_each(case: Case) -> bool:
    """Whether units that differ hold a slice of their flattened weights, and alike ones as much of them."""
    units: dict[tuple[str, int], _Unit] = {}
    odd = {_unit(row, number) for _, row in case.difference.misshapen for number in _numbers(row)}
    for leaf, row in _stored(case):
        for number in _numbers(row):
            if (key := _unit(row, number)) in odd:
                unit = units.setdefault(key, _Unit())
                many, held = row.count // len(_numbers(row)), prod(row.shape or ())
                unit.matrices += many * (len(leaf.shape) > 1)
                unit.unsliced += many * (len(leaf.shape) > 1 and len(row.shape or ()) > 1)
                unit.partial += many * (0 < held < leaf.size)
                unit.held += many * held
                unit.size += many * leaf.size
    if any(unit.unsliced or not unit.matrices or unit.partial > 2 or unit.held >= unit.size for unit in units.values()):
        return False  # a slice begins and ends within one tensor each
    alike = {(key[0], unit.size): unit.held for key, unit in units.items()}
    return all(alike[key[0], unit.size] == unit.held for key, unit in units.items())


def _numbers(row: Row) -> Sequence[int]:
    return list(row.numbers[0]) if row.numbers else [0]


def _unit(row: Row, number: int) -> tuple[str, int]:
    """The stack of layers and the layer; of what is outside of them neither."""
    return (row.text[0], number) if row.numbers else ("", 0)


def divided(case: Case) -> Iterator[Cause]:
    """Every matrix of the layers is the same fraction of what it should be, along one of its axes."""
    cuts = {id(leaf): _cut(leaf, row.shape or ()) for leaf, row in case.difference.misshapen}
    ranks = {cut[1] for cut in cuts.values() if cut}
    if None in cuts.values() or len(ranks) != 1 or not _everywhere(case):
        return
    axes: dict[str, set[int]] = {}
    for leaf, _ in case.difference.misshapen:
        if cut := cuts[id(leaf)]:
            if origin(leaf.shape[cut[0]]) == origin(case.blueprint.spec.hidden):
                return  # the width of the model itself, which every rank has whole
            axes.setdefault(leaf.component, set()).add(cut[0])
    both = {component for component, numbers in axes.items() if numbers == {0, 1}}
    if "attention" in both and both & {"mlp", "experts"}:
        (many,) = ranks
        text = (
            f"the layers' weights have 1/{many} of their rows or columns, like the file of one of {many}"
            " tensor-parallel ranks"
        )
        if {"embedding", "lm_head"} & axes.keys():
            yield Cause({"HF301"}, sentence(text), f"Merge the files of all {many} ranks.")
        else:  # which a rank may hold whole
            yield Cause({"HF301"}, sentence(f"{text}, unless heads and widths were pruned alike"))


def _everywhere(case: Case) -> bool:
    """Whether what is smaller is so in all layers, and with it every matrix of the feed-forward part there is."""
    odd = Counter[int]()
    for leaf, row in case.difference.misshapen:
        odd[id(leaf)] += row.count
    feeding = [leaf for leaf, _ in _stored(case) if leaf.component in ("mlp", "experts") and len(leaf.shape) > 1]
    cut = {leaf.component for leaf, _ in case.difference.misshapen}
    return all(odd[id(leaf)] == leaf.count for leaf, _ in case.difference.misshapen) and any(
        all(odd[id(leaf)] for leaf in feeding if leaf.component == component) for component in cut & {"mlp", "experts"}
    )


def _cut(leaf: Leaf, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """The one axis along which a tensor is smaller, and how many times it is."""
    if len(shape) != len(leaf.shape):
        return None
    smaller = [
        (axis, int(size) // stored)
        for axis, (size, stored) in enumerate(zip(leaf.shape, shape, strict=True))
        if stored and stored < size and size % stored == 0
    ]
    same = sum(size == stored for size, stored in zip(leaf.shape, shape, strict=True))
    return smaller[0] if len(smaller) == 1 and same == len(shape) - 1 else None
