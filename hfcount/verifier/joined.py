"""Finds tensors that transformers joins with others on loading, such as experts, where not all of these are stored."""

from collections import Counter
from collections.abc import Collection

from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.match import Match


def stored_in_part(blueprint: Blueprint, entries: Collection[str], match: Match | None = None) -> str:
    """The module of a tensor that is joined of several, of which some are stored; empty if there is none.

    Args:
        entries: the names in the checkpoint.
        match: how its names fit those of the blueprint; without, all are the blueprint's own.
    """
    if not blueprint.spellings.merged or (match is not None and not match.missing_count):
        return ""
    counts = {id(leaf): count for leaf, count in match.listed} if match else None
    for swap in blueprint.spellings.swaps(blueprint.leaves):
        if counts is not None and not any(counts.get(id(leaf), 0) for leaf in swap.described):
            continue
        length = _shared(swap.described[0], swap.stored[0])
        wanted, there = Counter[str](), Counter[str]()
        for leaf in swap.described:
            for name in match.names(leaf) if match else leaf.names():
                module = ".".join(name.split(".")[:length])
                wanted[module] += 1
                there[module] += (match.spelling.get(name, name) if match else name) in entries
        if found := next((module for module in wanted if 0 < there[module] < wanted[module]), ""):
            return found
    return ""


def _shared(one: Leaf, other: Leaf) -> int:
    """How many segments two leaves begin with alike."""
    pairs = enumerate(zip(one.segments, other.segments, strict=False))
    return next((place for place, (first, second) in pairs if first != second), len(one.segments))
