"""Names that differ only in numbers, folded into one with ranges."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf, split

_MOST = 100_000  # names, or numbers, that are written one by one
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


def names_of(folded: str) -> list[str] | None:
    """The names that a folded name stands for; None where it does not list them all, or these are too many."""
    parts = parts_of(folded)
    listed = [numbers for text in parts[1::2] if (numbers := numbers_of(text)) is not None]
    if len(listed) < len(parts) // 2 or prod(map(len, listed)) > _MOST:
        return None
    return list(filled(parts, listed))


def parts_of(folded: str) -> list[str]:
    """A folded name as texts and, between these, what its folds have for numbers."""
    return re.split(r"\{([^{}]*)\}", folded)


def filled(parts: Sequence[str], indices: Sequence[Sequence[int | str]]) -> Iterator[str]:
    """The names with each combination of indices in the place of the folds."""
    first, *rest = parts[::2]
    for numbers in product(*indices):
        yield first + "".join(f"{number}{text}" for number, text in zip(numbers, rest, strict=True))


def numbers_of(fold: str) -> list[int] | None:
    """The numbers of `0-3,7,10-20 step 2`; None where it is no such list, or too long."""
    numbers: list[int] = []
    for part in fold.split(","):
        span = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9})(?: step (\d{1,9}))?)?", part)
        if span is None:
            return None
        several = range(int(span[1]), int(span[2] or span[1]) + 1, int(span[3] or 1) or 1)
        if len(numbers) + len(several) > _MOST:
            return None
        numbers += several
    return numbers
