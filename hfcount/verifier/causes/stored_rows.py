"""Stored tensors folded into rows, and how they differ from a blueprint's leaves."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.leaves import Leaf, split
from hfcount.verifier.folded_names import placed, products, written

Text: TypeAlias = tuple[str, ...]
"""A name without its indices: the texts around them, with a dot put before the first."""

Place: TypeAlias = tuple[Literal["missing", "unexpected", "misshapen"], Text, tuple[int, ...]]
"""One tensor that differs, and how."""

T = TypeVar("T")

MOST = 50_000
"""Tensors that differ: more are not looked at one by one."""

MOST_ROWS = 20_000
"""Rows that differ: for more no other config is tried."""

_KEPT = 4_096  # names of leaves, with what is stored of them

_DOT = re.compile(r"\.")


@dataclass(frozen=True, slots=True)
class Row:
    """Tensors whose names differ only in indices: every combination of `numbers`, all of one shape, if it is known."""

    text: Text
    numbers: tuple[Indices, ...]
    shape: tuple[int, ...] | None

    @property
    def count(self) -> int:
        """The number of tensors."""
        return _count(self.numbers)

    @property
    def name(self) -> str:
        """The folded name."""
        return written(self.text, self.numbers)

    def meet(self, numbers: Iterable[Indices]) -> "Row":
        """The intersection with other combinations of indices."""
        return Row(self.text, tuple(map(intersection, numbers, self.numbers)), self.shape)

    def __contains__(self, numbers: tuple[int, ...]) -> bool:
        return all(map(Indices.__contains__, self.numbers, numbers))


class Shared(NamedTuple):
    """A stored row, what of it a leaf asks for, and the number of these tensors."""

    row: Row
    common: Row
    tensors: int


class StoredRows:
    """The stored tensors as rows: names, and shapes where they are known."""

    def __init__(self, rows: Mapping[Text, list[Row]]) -> None:
        self.rows = rows
        self._shared: dict[tuple[str | Indices, ...], list[Shared]] = {}

    @classmethod
    def of(cls, shapes: Mapping[str, tuple[int, ...] | None]) -> "StoredRows":
        """Folds names with their shapes."""
        groups: dict[tuple[Text, tuple[int, ...] | None], list[tuple[int, ...]]] = {}
        for name, shape in shapes.items():
            text, numbers = placed(name)
            groups.setdefault((text, shape), []).append(numbers)
        rows: dict[Text, list[Row]] = {}
        for text, shape in list(groups):
            places = groups.pop((text, shape))  # names without any pattern are a group each, and need not stay
            rows.setdefault(text, []).extend(Row(text, tuple(index), shape) for index in products(places))
        return cls(rows)

    def shared(self, leaf: Leaf) -> list[Shared]:
        """The rows that have tensors of a leaf; kept by its name, since configs that are tried share most leaves."""
        if leaf.segments not in self._shared:
            if len(self._shared) >= _KEPT:
                self._shared.clear()
            common = ((row, row.meet(leaf.indices)) for row in self.rows.get(text_of(leaf), ()))
            self._shared[leaf.segments] = [Shared(row, both, count) for row, both in common if (count := both.count)]
        return self._shared[leaf.segments]

    @cached_property
    def counted(self) -> list[tuple[Row, int]]:
        """All rows, each with the number of its tensors."""
        return [(row, row.count) for rows in self.rows.values() for row in rows]

    @cached_property
    def _numbers(self) -> dict[Text, dict[tuple[int, ...], set[int]]]:
        result: dict[Text, dict[tuple[int, ...], set[int]]] = {}
        for text, rows in self.rows.items():
            for row in rows:
                for place, numbers in enumerate(row.numbers):
                    stack = result.setdefault(text[: place + 1], {})
                    for outer in product(*row.numbers[:place]):
                        stack.setdefault(outer, set()).update(numbers)
        return result

    def numbers(self, stack: Text) -> Mapping[tuple[int, ...], set[int]]:
        """The numbers stored in a stack of layers or experts, by the numbers of the stacks around it.

        Args:
            stack: the texts before the number, such as `(".model.layers", ".mlp.experts")`.
        """
        return self._numbers.get(stack, {})

    @cached_property
    def modules(self) -> set[str]:
        """The names of all modules above the first index, such as `model` and `model.layers`."""
        firsts = {text[0][1:] if len(text) > 1 else text[0][1:].rpartition(".")[0] for text in self.rows}
        return {first[:end] for first in firsts for end in (*(match.start() for match in _DOT.finditer(first)), None)}

    def renumbered(self, stack: Text, order: Sequence[int]) -> "StoredRows":
        """A copy in which the layers `order` of a stack are numbered from 0."""
        new, place = {old: number for number, old in enumerate(order)}, len(stack) - 1
        return StoredRows(
            {
                text: [_moved(row, place, new) for row in rows] if text[: place + 1] == stack else rows
                for text, rows in self.rows.items()
            }
        )


def _moved(row: Row, place: int, new: Mapping[int, int]) -> Row:
    numbers = list(row.numbers)
    numbers[place] = Indices.of(new[number] for number in numbers[place])
    return replace(row, numbers=tuple(numbers))


@dataclass(slots=True)
class Difference:
    """How stored tensors differ from a blueprint's leaves.

    Args:
        pairs: each leaf with its stored rows.
        unexpected: rows of which some tensors are in no leaf, with what of them is.
        missing: leaves of which some tensors are not stored, with their number.
        misshapen: leaves of another shape than the stored row.
        counts: the numbers of tensors: missing, unexpected, misshapen.
    """

    pairs: list[tuple[Leaf, list[Row]]] = field(default_factory=list)
    unexpected: list[tuple[Row, Sequence[Row]]] = field(default_factory=list)
    missing: list[tuple[Leaf, int]] = field(default_factory=list)
    misshapen: list[tuple[Leaf, Row]] = field(default_factory=list)
    counts: tuple[int, int, int] = (0, 0, 0)

    @property
    def rows(self) -> int:
        """How many leaves and rows differ."""
        return len(self.missing) + len(self.unexpected) + len(self.misshapen)

    def within(self, other: "Difference") -> bool:
        """Whether all that differs here also differs there, in the same way, with the same tensors stored."""
        if any(count > theirs for count, theirs in zip(self.counts, other.counts, strict=True)):
            return False
        ours, theirs, odd = _by_text(self.pairs), _by_text(other.pairs), _by_text(other.misshapen)
        if any(_open(leaf, rows, theirs) != count for leaf, rows, count in self._lacking()):
            return False  # something is missing that was not asked for there
        for _, rows in other.pairs:
            if any(
                sum(row.meet(leaf.indices).count for leaf, _ in ours.get(row.text, ())) != row.count for row in rows
            ):
                return False  # something is unexpected that was described there
        for _, row in self.misshapen:
            alike = (other_row for _, other_row in odd.get(row.text, ()) if other_row.shape == row.shape)
            if sum(row.meet(other_row.numbers).count for other_row in alike) != row.count:
                return False
        return True

    def _lacking(self) -> Iterator[tuple[Leaf, list[Row], int]]:
        stored = {id(leaf): rows for leaf, rows in self.pairs}
        return ((leaf, stored[id(leaf)], count) for leaf, count in self.missing)

    def places(self) -> Iterator[Place]:
        """Every tensor that differs."""
        for leaf, rows, _ in self._lacking():
            text = text_of(leaf)
            for numbers in _outside(leaf.indices, rows):
                yield "missing", text, numbers
        for row, parts in self.unexpected:
            for numbers in _outside(row.numbers, parts):
                yield "unexpected", row.text, numbers
        for _, row in self.misshapen:
            for numbers in product(*row.numbers):
                yield "misshapen", row.text, numbers

    @property
    def layers(self) -> set[int]:
        """The first numbers of all tensors that differ, none of which is looked at alone."""
        open_: list[tuple[Sequence[Indices], Sequence[Row]]] = [
            (leaf.indices, rows) for leaf, rows, _ in self._lacking()
        ]
        open_ += [(row.numbers, parts) for row, parts in self.unexpected]
        open_ += [(row.numbers, []) for _, row in self.misshapen]
        return {layer for numbers, rows in open_ if numbers for layer in _short_of(numbers, rows)}


def compare(leaves: Iterable[Leaf], stored: StoredRows) -> Difference:
    """Compares what is stored with what a blueprint's leaves ask for."""
    result = Difference()
    known: dict[int, list[Shared]] = {}
    misshapen = 0
    for leaf in leaves:
        lacking, shared = int(leaf.count), stored.shared(leaf)
        for shared_row in shared:
            lacking -= shared_row.tensors
            known.setdefault(id(shared_row.row), []).append(shared_row)
            if shared_row.row.shape is not None and shared_row.row.shape != leaf.shape and leaf.presence != "obsolete":
                result.misshapen.append((leaf, shared_row.common))
                misshapen += shared_row.tensors
        result.pairs.append((leaf, [shared_row.common for shared_row in shared]))
        if lacking and leaf.presence == "required":
            result.missing.append((leaf, lacking))
    beyond = 0
    for row, count in stored.counted:
        parts = known.get(id(row), ())
        if more := count - sum(part.tensors for part in parts):
            result.unexpected.append((row, [part.common for part in parts] if parts else ()))
            beyond += more
    result.counts = sum(count for _, count in result.missing), beyond, misshapen
    return result


def _outside(numbers: Sequence[Indices], rows: Sequence[Row]) -> Iterator[tuple[int, ...]]:
    """The combinations of numbers that none of the rows has; only rows of the same first number are asked."""
    if not numbers:
        yield from () if rows else [()]
        return
    by_first: dict[int, list[Row]] = {}
    for row in rows:
        for first in row.numbers[0]:
            by_first.setdefault(first, []).append(row)
    for first in numbers[0]:
        near = by_first.get(first, ())
        for rest in product(*numbers[1:]):
            place = (first, *rest)
            if not any(place in row for row in near):
                yield place


def _short_of(numbers: Sequence[Indices], rows: Sequence[Row]) -> Iterator[int]:
    """The first numbers of combinations that disjoint rows, which have no others, do not have all of."""
    each, held = _count(numbers[1:]), Counter[int]()
    for row in rows:
        inner = _count(row.numbers[1:])
        held.update(dict.fromkeys(row.numbers[0], inner))
    return (first for first in numbers[0] if held[first] < each)


def _count(numbers: Iterable[Indices]) -> int:
    """How many combinations of numbers there are."""
    return prod(int(indices.count) for indices in numbers)


def _by_text(pairs: Iterable[tuple[Leaf, T]]) -> dict[Text, list[tuple[Leaf, T]]]:
    groups: dict[Text, list[tuple[Leaf, T]]] = {}
    for leaf, other in pairs:
        groups.setdefault(text_of(leaf), []).append((leaf, other))
    return groups


def _open(leaf: Leaf, rows: Sequence[Row], described: Mapping[Text, Sequence[tuple[Leaf, list[Row]]]]) -> int:
    """How many tensors of a leaf are not among the stored rows and are required elsewhere, too."""
    text = text_of(leaf)
    shared = [
        Row(text, tuple(leaf.indices), None).meet(other.indices)
        for other, _ in described.get(text, ())
        if other.presence == "required"
    ]
    return sum(part.count - sum(row.meet(part.numbers).count for row in rows) for part in shared)


def text_of(leaf: Leaf) -> Text:
    """The name of a leaf without its indices."""
    return split(".".join(part if isinstance(part, str) else "0" for part in leaf.segments))[0]
