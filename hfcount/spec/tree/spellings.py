"""Other names and layouts under which the same tensors may be stored, and that the reference takes when it loads."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from hfcount.record import Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf, is_index, segment
from hfcount.spec.tree.name_patterns import MARK

# What the reference renames in any model: LayerNorms of TensorFlow's days, and a name that some versions doubled.
_ANYWHERE = {
    r"LayerNorm\.gamma$": "LayerNorm.weight",
    r"LayerNorm\.beta$": "LayerNorm.bias",
    r"^(?:model\.language_model\.model|language_model\.model\.model)\.": "model.language_model.",
}


Rules = tuple[tuple[re.Pattern[str], str], ...]
"""Patterns, and what is put in their place."""


class Swap(Record, kw_only=False):
    """Tensors as they are described, and as they are stored in another layout."""

    described: list[Leaf]
    stored: list[Leaf]


class Spellings(Record, kw_only=False):
    """The names that one architecture accepts. Two names are the same tensor's if the rules make the same name of them.

    Args:
        rules: (pattern, replacement), each applied once, in turn.
        prefix: the base model's name inside classes with a head, after the rules, with a final dot; "" if it has none.
        merged: tensors stored as one, by the end of its name: the ends of theirs, with `*` for an expert's number.
        transposed: ends of the names of tensors whose last two dimensions may be swapped.
        allotted: ends of the names of tensors that are joined along their first dimension, each with any of its rows.
    """

    rules: Rules = ()
    prefix: str = ""
    merged: Mapping[str, tuple[str, ...]] | None = None
    transposed: tuple[str, ...] = ()
    allotted: tuple[tuple[str, ...], ...] = ()

    def common(self, name: str) -> str:
        """The name that all spellings of it have in common, but for the base model's prefix."""
        for pattern, replacement in self.rules:
            name = pattern.sub(replacement, name, count=1)
        return name

    def swaps(self, leaves: Iterable[Leaf]) -> Iterator[Swap]:
        """The leaves that may be stored in another layout, with that layout."""
        known = list(leaves)
        for merged, parts in (self.merged or {}).items():
            yield from _merged(known, merged.split("."), [part.split(".") for part in parts])
            yield from _apart(known, merged.split("."), [part.split(".") for part in parts])


def compiled(rules: Mapping[str, str]) -> Rules:
    """The rules of a family, and those of every model after them."""
    return tuple((re.compile(pattern), replacement) for pattern, replacement in {**rules, **_ANYWHERE}.items())


def renamed(leaf: Leaf, rename: Callable[[str], str]) -> tuple[Leaf, Callable[[tuple[int, ...]], str]]:
    """The leaf under its new name, and what gives the old name of one of its tensors by the numbers in the new one."""
    sets = leaf.indices
    alone = [next(iter(numbers)) if numbers.count == 1 else None for numbers in sets]
    marks = iter(MARK + place if number is None else number for place, number in enumerate(alone))
    text = ".".join(part if isinstance(part, str) else str(next(marks)) for part in leaf.segments)
    segments: list[str | Indices] = []
    places: list[int | None] = []
    for part in rename(text).split("."):
        place = int(part) - MARK if is_index(part) else -1
        segments.append(sets[place] if place >= 0 else segment(part))
        if is_index(part):
            places.append(place if place >= 0 else None)

    pattern = ".".join(part.replace("%", "%%") if isinstance(part, str) else "%s" for part in leaf.segments)
    new = leaf.replace(segments=tuple(segments))
    if places == list(range(len(sets))):  # the same numbers in the same order
        return new, lambda numbers: pattern % numbers

    def old(numbers: tuple[int, ...]) -> str:
        known = list(alone)
        for place, number in zip(places, numbers, strict=True):
            if place is not None:
                known[place] = number
        return pattern % tuple(known)

    return new, old


def _merged(leaves: list[Leaf], merged: list[str], parts: list[list[str]]) -> Iterator[Swap]:
    """Tensors that are described apart, as one: joined along the first dimension of each expert, then stacked."""
    groups: dict[tuple[str | Indices, ...], dict[int, Leaf]] = {}
    for leaf in leaves:
        for place, part in enumerate(parts):
            if _ends_with(leaf, part):
                groups.setdefault(leaf.segments[: -len(part)], {})[place] = leaf
    for before, group in groups.items():
        if len(group) < len(parts):
            continue
        apart = [group[place] for place in range(len(parts))]
        first, experts = apart[0], _stacked(apart[0], parts[0])
        axis = _joined(first)
        rows = sum((leaf.shape[axis] for leaf in apart[1:]), first.shape[axis])
        shape, count = (*first.shape[:axis], rows, *first.shape[axis + 1 :]), int(first.count)
        if experts is not None:
            shape, count = (experts.count, *shape), count // int(experts.count)
        yield Swap(apart, [first.replace(segments=(*before, *merged), shape=shape, count=count, active=count)])


def _apart(leaves: list[Leaf], merged: list[str], parts: list[list[str]]) -> Iterator[Swap]:
    """A tensor that is described as one, as several of the same shape."""
    for leaf in leaves:
        if not _ends_with(leaf, merged):
            continue
        before, shape, count = leaf.segments[: -len(merged)], leaf.shape, int(leaf.count)
        stacked = Indices.below(shape[0]) if "*" in parts[0] else None
        if stacked is not None:
            shape, count = shape[1:], count * int(stacked.count)
        axis = 0 if stacked is not None else _joined(leaf)
        if shape and not shape[axis] % len(parts):
            shape = (*shape[:axis], shape[axis] // len(parts), *shape[axis + 1 :])
            ends = [tuple(stacked if segment == "*" and stacked else segment for segment in part) for part in parts]
            yield Swap(
                [leaf],
                [leaf.replace(segments=(*before, *end), shape=shape, count=count, active=count) for end in ends],
            )


def _joined(leaf: Leaf) -> int:
    """The dimension along which networks are joined: the first, or that after the number of an expert."""
    return int(leaf.component in ("experts", "mlp") and len(leaf.shape) == 3)


def _stacked(leaf: Leaf, part: list[str]) -> Indices | None:
    """The numbers at the `*` of the end of a name."""
    ends = zip(leaf.segments[-len(part) :], part, strict=True)
    return next((segment for segment, wanted in ends if wanted == "*" and isinstance(segment, Indices)), None)


def _ends_with(leaf: Leaf, part: list[str]) -> bool:
    end = leaf.segments[-len(part) :]
    return len(end) == len(part) and all(
        isinstance(segment, Indices) if wanted == "*" else segment == wanted
        for segment, wanted in zip(end, part, strict=True)
    )
