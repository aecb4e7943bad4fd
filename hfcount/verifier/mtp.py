"""Checks whether multi-token-prediction layers are complete."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.folded_names import fold
from hfcount.verifier.match import Match, Unfinished

_LISTED = 100_000  # tensors of one layer; more are not listed one by one

Segments = tuple[str | Indices, ...]


def set_ordinary_apart(match: Match, names: Collection[str]) -> None:
    """Moves ordinary layers in the place of prediction layers to `unexpected`; records what the others lack."""

    def listed(leaf: Leaf) -> list[str]:
        return [name for name in match.names(leaf) if name in names]

    result = unfinished([leaf for leaf, _ in match.listed], listed)
    ordinary: Counter[int] = Counter()
    for leaf, stored in result.ordinary:
        ordinary[id(leaf)] += len(stored)
    match.listed = [(leaf, count - ordinary[id(leaf)]) for leaf, count in match.listed]
    match.unexpected += [name for _, names in result.ordinary for name in names]
    if result.count:
        match.unfinished = result


def unfinished(leaves: Iterable[Leaf], listed: Callable[[Leaf], list[str]]) -> Unfinished:
    """Looks at each prediction layer of which anything is listed.

    Where they follow the model's own layers each is judged by itself, and it is an ordinary one if it has nothing that
    those lack. A module apart, which may have several layers, is judged as a whole.

    Args:
        leaves: all leaves of the blueprint.
        listed: the names of a leaf's tensors that the checkpoint lists.
    """
    ahead, model = list[Leaf](), list[Leaf]()
    for leaf in leaves:
        (ahead if leaf.part == "prediction" else model).append(leaf)
    root = _common([leaf.segments for leaf in ahead])
    place = next((place for place, part in enumerate(root) if isinstance(part, Indices)), None)
    result = Unfinished()
    if place is None:
        for leaf in ahead:
            _judge(leaf, listed(leaf), result)
        return result
    before, numbers = root[:place], root[place]
    assert isinstance(numbers, Indices)
    usual = {leaf.segments[place + 1 :] for leaf in model if leaf.segments[:place] == before}
    by_number: dict[int, dict[int, list[str]]] = {}
    for leaf in ahead:
        for name in listed(leaf):
            by_number.setdefault(int(name.split(".")[place]), {}).setdefault(id(leaf), []).append(name)
    for number, names in sorted(by_number.items()):
        is_prediction = any(id(leaf) in names and leaf.segments[place + 1 :] not in usual for leaf in ahead)
        if not is_prediction:
            result.ordinary += [(leaf, names[id(leaf)]) for leaf in ahead if id(leaf) in names]
            continue
        alone, many = Indices.of((number,)), int(numbers.count)
        for leaf in ahead:
            segments = (*before, alone, *leaf.segments[place + 1 :])
            _judge(leaf.replace(segments=segments, count=int(leaf.count) // many), names.get(id(leaf), []), result)
    return result


def _judge(leaf: Leaf, names: list[str], result: Unfinished) -> None:
    """Adds what is lacking of a leaf in one layer or module; the names are those that are listed."""
    if leaf.presence == "spare":
        return
    lacking = int(leaf.count) - len(names)
    result.expected += int(leaf.count)
    result.count += lacking
    result.elements += lacking * leaf.size
    if lacking:
        result.lacking += fold(leaf.names_beyond(set(names))) if names and lacking <= _LISTED else [leaf.name]


def _common(names: list[Segments]) -> Segments:
    """The segments that all names begin with."""
    first = min(names, key=len)
    length = next((n for n in range(len(first)) if any(name[n] != first[n] for name in names)), len(first))
    return first[:length]
