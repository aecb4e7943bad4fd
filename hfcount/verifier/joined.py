"""Finds tensors that transformers joins to one when it loads them, such as the experts of a layer."""

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.spec.tree.spellings import Swap


class Parts(NamedTuple):
    """Stored tensors that are joined in one module.

    Args:
        swap: what is joined, and to what.
        module: the segments that their names begin with, and that of what is joined.
        names: of those that are stored.
    """

    swap: Swap
    module: tuple[str, ...]
    names: list[str]

    @property
    def complete(self) -> bool:
        """Whether all are stored; how many there should be is counted, whatever the config says."""
        length = len(self.module)
        needed = sum(_below(leaf, length) for leaf in self.swap.described if _is_in(leaf, self.module))
        return len(self.names) == needed


def joined(blueprint: Blueprint, names: Iterable[str]) -> Iterator[Parts]:
    """What is joined of stored tensors, module by module.

    Args:
        names: as the blueprint has them. Only these are looked at.
    """
    if not blueprint.spellings.merged:
        return
    swaps = [*blueprint.spellings.swaps(blueprint.leaves)]
    of_leaf: dict[int, list[Swap]] = {}
    for swap in swaps:
        for leaf in swap.described:
            of_leaf.setdefault(id(leaf), []).append(swap)
    finder = Finder([leaf for swap in swaps for leaf in swap.described])
    found: dict[tuple[int, tuple[str, ...]], Parts] = {}
    for name in names:
        part = finder.find(name)
        for swap in of_leaf[id(part)] if part else ():
            module = tuple(name.split(".")[: _common_segments(swap)])
            found.setdefault((id(swap), module), Parts(swap, module, [])).names.append(name)
    yield from found.values()


def stored_in_part(blueprint: Blueprint, names: Iterable[str]) -> str:
    """The module of a tensor that is joined of several, of which some are stored; empty if there is none."""
    return next((".".join(parts.module) for parts in joined(blueprint, names) if not parts.complete), "")


def _common_segments(swap: Swap) -> int:
    """How many segments the names of the parts and of what is joined of them begin with alike."""
    first, other = swap.described[0].segments, swap.stored[0].segments
    pairs = enumerate(zip(first, other, strict=False))
    return next((place for place, (segment, one) in pairs if segment != one), len(first))


def _below(leaf: Leaf, length: int) -> int:
    """How many tensors of a leaf have the same first segments."""
    return prod(int(part.count) for part in leaf.segments[length:] if isinstance(part, Indices))


def _is_in(leaf: Leaf, segments: tuple[str, ...]) -> bool:
    """Whether some names of a leaf begin with these segments."""
    return all(
        part == segment if isinstance(part, str) else segment.isdecimal() and int(segment) in part.members
        for part, segment in zip(leaf.segments, segments, strict=False)
    )
