"""The names that tensors have in a model of transformers 5, where experts and the like are joined to one tensor."""

from collections import Counter
from collections.abc import Collection

from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.spellings import Swap


def names_in_memory(blueprint: Blueprint | None, names: Collection[str]) -> dict[str, str]:
    """The name in memory of each of a blueprint's tensors.

    Those that are joined with others have the name of the whole, if all its parts are among `names`.
    """
    if blueprint is None:
        return {}
    common = blueprint.spellings.common
    known = {name: common(name) for name in names}
    for swap in blueprint.spellings.swaps(blueprint.leaves):
        if len(swap.stored) == 1:
            known |= {name: common(whole) for name, whole in _joined(swap, names).items()}
    return known


def _joined(swap: Swap, names: Collection[str]) -> dict[str, str]:
    """The tensors of which one is made, each with the name of that, where all of them are there."""
    whole = swap.stored[0]
    length = len(whole.segments) - _fixed(whole)
    ends = [str(segment) for segment in whole.segments[length:]]
    parts = {name: ".".join([*name.split(".")[:length], *ends]) for leaf in swap.described for name in leaf.names()}
    there = Counter(whole for name, whole in parts.items() if name in names)
    wanted = Counter(parts.values())
    return {name: whole for name, whole in parts.items() if there[whole] == wanted[whole]}


def _fixed(leaf: Leaf) -> int:
    """How many segments stand behind the last number of a leaf."""
    return next(
        (count for count, part in enumerate(reversed(leaf.segments)) if not isinstance(part, str)), len(leaf.segments)
    )
