"""Scales of an 8-bit cache of keys and values, which stand in modules of attention or in the block around them."""

from collections.abc import Iterable, Sequence

from hfcount.packing.expected import module_of
from hfcount.tree.indices import Indices
from hfcount.tree.leaves import Leaf, split

_DTYPES = ("F32", "BF16", "F16")


def scales(names: Sequence[str], leaves: Iterable[Leaf]) -> tuple[list[Leaf], list[str]]:
    """Leaves for scales of a cache that stand in modules or blocks of the blueprint, and the names that do not."""
    if not names:
        return [], []
    ends = {end for leaf in leaves if module_of(leaf) for end in _ends(leaf)}
    groups: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    unknown: list[str] = []
    for name in names:
        text, numbers = split(name)
        if text[-1].rpartition(".")[0] in ends:
            groups.setdefault(text, []).append(numbers)
        else:
            unknown.append(name)
    return [leaf for text, places in groups.items() for leaf in _scalars(text, places)], unknown


def _ends(leaf: Leaf) -> list[str]:
    """What follows the last number in the names of a leaf's module and of the block around it."""
    module = split(".".join(one if isinstance(one, str) else "0" for one in leaf.segments[:-1]))[0][-1]
    return [module, module.rpartition(".")[0]]


def _scalars(text: tuple[str, ...], places: Sequence[tuple[int, ...]]) -> list[Leaf]:
    """Leaves for scalars whose names have these texts and numbers: one if there is one number in each name."""
    whole = [[Indices.of(number for (number,) in places)]] if len(places[0]) == 1 else None
    found = []
    for some in whole or [[Indices.of((number,)) for number in place] for place in places]:
        segments: tuple[str | Indices, ...] = tuple(text[0][1:].split("."))
        for own, rest in zip(some, text[1:], strict=True):
            segments += (own, *rest[1:].split("."))
        count = some[0].count if whole else 1
        leaf = Leaf(segments, (), "buffer", "attention", count, count, presence="spare", dtypes=_DTYPES)
        found.append(leaf)
    return found
