"""Finds tensors that transformers joins with others on loading, such as experts, where not all of these are stored."""

from collections import Counter
from collections.abc import Iterable
from math import prod

from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.spec.tree.spellings import Swap


def stored_in_part(blueprint: Blueprint, names: Iterable[str]) -> str:
    """The module of a tensor that is joined of several, of which some are stored; empty if there is none.

    Only stored names are looked at: what a module should have is counted, however many there should be.

    Args:
        names: of the stored tensors, as the blueprint has them.
    """
    if not blueprint.spellings.merged:
        return ""
    swaps = [*blueprint.spellings.swaps(blueprint.leaves)]
    swap_of = {id(leaf): swap for swap in swaps for leaf in swap.described}
    finder = Finder([leaf for swap in swaps for leaf in swap.described])
    stored = Counter[tuple[int, str]]()
    for name in names:
        if leaf := finder.find(name):
            swap = swap_of[id(leaf)]
            stored[id(swap), ".".join(name.split(".")[: _common_segments(swap)])] += 1
    by_id = {id(swap): swap for swap in swaps}
    return next((module for (swap, module), count in stored.items() if count < _needed(by_id[swap], module)), "")


def _common_segments(swap: Swap) -> int:
    """How many segments the names of the parts and of what is joined of them begin with alike."""
    first, other = swap.described[0].segments, swap.stored[0].segments
    pairs = enumerate(zip(first, other, strict=False))
    return next((place for place, (segment, one) in pairs if segment != one), len(first))


def _needed(swap: Swap, module: str) -> int:
    """How many tensors are joined in a module."""
    segments = module.split(".")
    return sum(_below(leaf, len(segments)) for leaf in swap.described if _is_in(leaf, segments))


def _below(leaf: Leaf, length: int) -> int:
    """How many tensors of a leaf have the same first segments."""
    return prod(int(part.count) for part in leaf.segments[length:] if isinstance(part, Indices))


def _is_in(leaf: Leaf, segments: list[str]) -> bool:
    """Whether some names of a leaf begin with these segments."""
    return all(
        part == segment if isinstance(part, str) else segment.isdecimal() and int(segment) in part.members
        for part, segment in zip(leaf.segments, segments, strict=False)
    )
