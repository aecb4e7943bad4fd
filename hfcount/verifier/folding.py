"""Names that differ only in numbers, folded into one with ranges."""

from collections.abc import Iterable, Sequence

from hfcount.tree.indices import Indices
from hfcount.tree.leaves import split

_INDICES = 8  # a name with more numbers is not a module's, and is not folded


def fold(names: Iterable[str]) -> list[str]:
    """Folds names that differ only in indices into one, such as `model.layers.{0-63}.mlp.up_proj.weight`."""
    groups: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for name in names:
        text, numbers = split(name)
        if len(numbers) > _INDICES:
            text, numbers = (f".{name}",), ()
        groups.setdefault(text, []).append(numbers)
    return [
        (first + "".join(f".{number}{text}" for number, text in zip(ranges, rest, strict=True)))[1:]
        for (first, *rest), places in groups.items()
        for ranges in _ranges(places)
    ]


def _ranges(places: Sequence[tuple[int, ...]]) -> list[list[str]]:
    """Tuples of indices as products of ranges, merged by the first index, then the second, and so on."""
    if not places[0]:
        return [[]]
    by_first: dict[int, list[tuple[int, ...]]] = {}
    for first, *rest in places:
        by_first.setdefault(first, []).append(tuple(rest))
    by_rest: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for first, rests in by_first.items():
        by_rest.setdefault(tuple(sorted(rests)), []).append(first)
    return [[_range(firsts), *rest] for rests, firsts in by_rest.items() for rest in _ranges(rests)]


def _range(numbers: Sequence[int]) -> str:
    text = str(Indices.of(numbers))
    return text if len(numbers) == 1 else f"{{{text}}}"
