"""Tensors stored under a second name only: one of a tied group, or a name of earlier versions."""

from collections.abc import Collection

from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.verifier.folded_names import fold
from hfcount.verifier.match import Match


def let_stand_in(match: Match, names: Collection[str]) -> None:
    """A name of a tied group stands in for the one that is written: the reference takes whichever is there.

    Source: transformers 5.23, modeling_utils.py, PreTrainedModel.tie_weights.
    """
    finder = Finder(leaf for leaf, _ in match.listed if leaf.presence == "required" and id(leaf) not in match.few)
    gone: dict[int, tuple[Leaf, list[str]]] = {}
    for place, (leaf, count) in enumerate(match.listed):
        name = leaf.tied_to or leaf.twin
        if not count or name is None or name in names or (target := finder.find(name)) is None:
            continue
        if leaf.shape != target.shape:
            continue
        if leaf.tied_to is None and name not in gone.get(id(target), (target, []))[1]:
            _swap(match, place, leaf, target)
        elif leaf.tied_to:
            match.stand_ins.append(leaf)
        gone.setdefault(id(target), (target, []))[1].append(name)
    for target, stood in gone.values():
        absent = target.names_beyond(names)
        first = match.missing.index(fold(absent)[0])
        match.missing[first : first + len(fold(absent))] = fold(name for name in absent if name not in stood)
        match.missing_count -= len({*stood})
        match.missing_elements -= len({*stood}) * target.size


def _swap(match: Match, place: int, leaf: Leaf, target: Leaf) -> None:
    """Lists a tensor that an earlier version stored under a second name as the one that it is."""
    other = next(number for number, (listed, _) in enumerate(match.listed) if listed is target)
    match.listed[place], match.listed[other] = (leaf, 0), (target, match.listed[other][1] + 1)
    if match.files:
        match.files[place], match.files[other] = match.files[other], match.files[place]
    match.renamed.append((leaf.name, target.name))
