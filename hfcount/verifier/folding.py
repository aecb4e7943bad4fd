"""Names that differ only in numbers, folded into one with ranges."""

from collections.abc import Iterable, Sequence

from hfcount.tree.indices import Indices
from hfcount.tree.leaves import is_index

_INDICES = 8  # a name with more numbers is no module's, and stands for itself


def fold(names: Iterable[str]) -> list[str]:
    """Names that differ only in indices, each group as one, such as `model.layers.{0-63}.mlp.up_proj.weight`."""
    groups: dict[tuple[str | None, ...], list[tuple[int, ...]]] = {}
    for name in names:
        segments = name.split(".")
        if sum(map(is_index, segments)) > _INDICES:
            groups[(name,)] = [()]
            continue
        template = tuple(None if is_index(segment) else segment for segment in segments)
        groups.setdefault(template, []).append(tuple(int(segment) for segment in segments if is_index(segment)))
    return [
        ".".join(segment if segment is not None else next(filled) for segment in template)
        for template, places in groups.items()
        for filled in map(iter, _ranges(places))
    ]


def _ranges(places: Sequence[tuple[int, ...]]) -> list[list[str]]:
    """Tuples of indices as products of ranges, the fewest that taking the first index apart gives."""
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
