"""Which names of a checkpoint the reference takes for names of the blueprint."""

from collections.abc import Collection, Container
from dataclasses import dataclass

from hfcount.tree.leaves import Finder, Leaf, split
from hfcount.tree.spellings import Spellings, Swap, renamed


@dataclass(frozen=True, slots=True)
class Respelled:
    """Names of a checkpoint that are other names of the blueprint's tensors.

    Args:
        names: by the name in the checkpoint, the blueprint's.
        swaps: tensors that are stored in another layout.
    """

    names: dict[str, str]
    swaps: list[Swap]


def respell(
    listed: Collection[tuple[Leaf, int]], names: Container[str], unexpected: Collection[str], spellings: Spellings
) -> Respelled:
    """Finds the tensors that the unexpected names stand for.

    The base model's prefix is added or removed once, for all of it or not at all, and never before a head.

    Args:
        listed: each leaf with the number of its tensors that the checkpoint lists.
        names: all names of the checkpoint.
    """
    lacking = [leaf for leaf, count in listed if count < leaf.count]
    swaps = list(spellings.swaps(leaf for leaf, count in listed if not count and leaf.count))
    known = {}
    for leaf in [*lacking, *(leaf for swap in swaps for leaf in swap.stored)]:
        one, old = renamed(leaf, spellings.common)
        known[id(one)] = one, leaf, old
    finder = Finder([one for one, _, _ in known.values()])
    settled = _settled(listed, spellings)
    pairs: dict[str, list[str]] = {}
    used: set[int] = set()
    for name in unexpected:
        common = spellings.common(name)
        forms = dict.fromkeys([common, *([] if settled else _forms(common, spellings)), name])
        for form in forms:
            found = finder.find(form)
            if found is not None:
                _, leaf, old = known[id(found)]
                pairs.setdefault(old(split(form)[1]), []).append(name)
                used.add(id(leaf))
                break
    # Of two names of one tensor neither is a mere spelling of it.
    chosen = {
        found[0]: wanted
        for wanted, found in pairs.items()
        if found == [wanted] or (len(found) == 1 and wanted not in names)
    }
    swapped = [swap for swap in swaps if any(id(leaf) in used for leaf in swap.stored)]
    return Respelled(chosen, swapped)


def _forms(name: str, spellings: Spellings) -> list[str]:
    """The name with the base model's prefix added or removed."""
    prefix = spellings.prefix
    inner = name.removeprefix(prefix)
    if not prefix or spellings.bare:
        return [inner]
    return [prefix + name, *([inner] if name.startswith(2 * prefix) and not spellings.nested else [])]


def _settled(listed: Collection[tuple[Leaf, int]], spellings: Spellings) -> bool:
    """Whether the checkpoint has names of the base model as the blueprint has them."""
    return any(
        count and (spellings.bare or spellings.common(leaf.name).startswith(spellings.prefix)) for leaf, count in listed
    )
