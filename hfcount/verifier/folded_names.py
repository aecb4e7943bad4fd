"""Names that differ only in numbers, folded into one with ranges."""

from collections.abc import Iterable, Sequence

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf, split

_INDICES = 8  # a name with more numbers is not a module's, and is not folded


def fold(names: Iterable[str]) -> list[str]:
    """Folds names that differ only in indices into one, such as `model.layers.{0-63}.mlp.up_proj.weight`."""
    groups: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for name in names:
        text, numbers = placed(name)
        groups.setdefault(text, []).append(numbers)
    return [written(text, ranges) for text, places in groups.items() for ranges in products(places)]


def fold_all(leaf: Leaf) -> str:
    """Folds all names of a leaf into one."""
    segments = (part if isinstance(part, str) else _range(Indices.of(tuple(part))) for part in leaf.segments)
    return ".".join(segments)


def placed(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The texts around the indices of a name, with a dot put before it, and the indices."""
    text, numbers = split(name)
    return (text, numbers) if len(numbers) <= _INDICES else ((f".{name}",), ())


def written(text: Sequence[str], ranges: Sequence[Indices]) -> str:
    """A folded name, from the texts around its indices and the indices."""
    first, *rest = text
    return (first + "".join(f".{_range(indices)}{after}" for indices, after in zip(ranges, rest, strict=True)))[1:]


def products(places: Sequence[tuple[int, ...]]) -> list[list[Indices]]:
    """Tuples of indices as products of ranges, merged by the first index, then the second, and so on."""
    if not places[0]:
        return [[]]
    by_first: dict[int, list[tuple[int, ...]]] = {}
    for first, *rest in places:
        by_first.setdefault(first, []).append(tuple(rest))
    by_rest: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for first, rests in by_first.items():
        by_rest.setdefault(tuple(sorted(rests)), []).append(first)
    return [[Indices.of(firsts), *rest] for rests, firsts in by_rest.items() for rest in products(rests)]


def _range(numbers: Indices) -> str:
    return str(numbers) if numbers.count == 1 else f"{{{numbers}}}"
