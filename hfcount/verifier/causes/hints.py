"""Names the config key that a size that differs was read from, and the values that would fit."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.dims import Dim, has_key
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import plural
from hfcount.verifier.causes.stored_rows import Difference, StoredRows, Text, text_of
from hfcount.verifier.folded_names import written

_SCANNED = 256  # numbers tried in place of one that a size neither rises nor falls with

BY_DEFAULT = ", by default"
"""The end of the source of a value that the config does not give."""


class Hint(NamedTuple):
    """One value of the config that would fit what is stored.

    Args:
        key: the full key path, such as `text_config.hidden_size`.
        read: the value that was read.
        fits: the value that would fit.
        source: where the value was read: the key, its default, or arithmetic over other keys if the key is absent.
        noun: what is stored in that number, such as `row`.
        upto: the greatest value of a range of which each would fit; 0 if `fits` alone would.
        open: whether other values would fit as well, so that no value is named.
    """

    key: str
    read: int
    fits: int
    source: str
    noun: str = ""
    upto: int = 0
    open: bool = False

    @property
    def unsure(self) -> bool:
        """Whether what is stored does not tell the value."""
        return self.open or bool(self.upto)

    @property
    def absent(self) -> bool:
        """Whether the config lacks the key."""
        return self.source != self.key

    def __str__(self) -> str:
        text = f"is {self.read:,}"
        if self.absent:
            text = f"is {self.read:,} by default"
            if " " in self.source.removesuffix(BY_DEFAULT):
                text = f"is derived as {self.source} = {self.read:,}"
        if self.key.endswith("id2label"):
            text = f"names {plural(self.read, 'label')}"
        if self.open:
            return f"{self.key} {text}, but several other values would fit"
        if self.upto:
            return f"{self.key} {text}, but any from {self.fits:,} to {self.upto:,} would fit"
        if not self.noun:
            return f"{self.key} {text}, but {self.fits:,} would fit"
        where = " in every layer" if self.noun == "expert" else ""
        return f"{self.key} {text}, but the checkpoint has {plural(self.fits, self.noun)}{where}"


class Sight(NamedTuple):
    """One place where the value of a key is seen: a size of tensors, or the number of layers or experts in a stack.

    Args:
        name: the tensors or the stack, folded.
        leaf: the leaf whose size it is, or one of the stack's.
        within: the layers where it is seen; None if there are none around it.
        stack: the stack whose layers or experts were counted; empty for a size of tensors.
    """

    name: str
    leaf: Leaf
    within: Indices | None
    stack: Text = ()


@dataclass(slots=True)
class Sights:
    """The sizes of stored tensors, by the config keys that determine them.

    Args:
        keys: of each key that gives a size by itself, the values that are seen, and where; agreeing ones included.
        read: the value that was read of each of these keys, and its source.
        derived: sizes that differ and that no one key gives, by their source, their value and the one that is seen.
        perhaps: numbers of layers that differ from those that are seen, in any stack.
    """

    keys: dict[str, dict[int, list[Sight]]] = field(default_factory=dict)
    read: dict[str, tuple[int, str]] = field(default_factory=dict)
    derived: dict[tuple[str, int, int], int] = field(default_factory=dict)
    perhaps: list[tuple[int, int]] = field(default_factory=list)

    def see(self, size: int, value: int, sight: Sight) -> None:
        """Notes the value of a size."""
        source = size.source if isinstance(size, Dim) else ""
        key = source.removesuffix(BY_DEFAULT)
        if has_key(size) and " " not in key:
            self.read[key] = int(size), source
            self.keys.setdefault(key, {}).setdefault(value, []).append(sight)
        elif size != value:
            self.derived.setdefault((key, int(size), value), size)


def sights(blueprint: Blueprint, difference: Difference, stored: StoredRows) -> Sights:
    """Collects the stored values of every size of the blueprint."""
    result = Sights()
    for leaf, rows in difference.pairs:
        for row in rows:
            if row.shape is None or len(row.shape) != len(leaf.shape) or leaf.presence == "obsolete":
                continue
            within = row.numbers[0] if row.numbers else None
            for size, value in zip(leaf.shape, row.shape, strict=True):
                result.see(size, value, Sight(row.name, leaf, within))
    for stack, kinds in stacks(blueprint).items():
        for outer, numbers in stored.numbers(stack).items():
            if len(numbers) != max(numbers) + 1 or (found := counted(kinds, outer)) is None:
                continue
            leaf, count = found
            within = Indices.of(outer[:1]) if outer else None
            result.see(
                count, len(numbers), Sight(written(stack, [Indices.of([n]) for n in outer]), leaf, within, stack)
            )
            if len(stack) == 1 and len(numbers) != count:
                result.perhaps.append((count, len(numbers)))
    return result


Around = tuple[Indices, ...]
"""The numbers of the stacks around one, the outermost first."""


def stacks(blueprint: Blueprint) -> dict[Text, dict[tuple[Around, Indices], Leaf]]:
    """One leaf of every stack, by the numbers of the stacks around it and its own."""
    parts: dict[Text, dict[tuple[Around, Indices], Leaf]] = {}
    for leaf in blueprint.leaves:
        if leaf.presence == "required" and leaf.part == "model":
            text, indices = text_of(leaf), tuple(leaf.indices)
            for place, numbers in enumerate(indices):
                parts.setdefault(text[: place + 1], {}).setdefault((indices[:place], numbers), leaf)
    return parts


def counted(kinds: Mapping[tuple[Around, Indices], Leaf], outer: tuple[int, ...]) -> tuple[Leaf, int] | None:
    """One leaf of a stack within these layers, and the number of its layers or experts; None if there is none.

    The number is a Dim if one key is sure to give it. Layers that are of several kinds are counted together.
    """
    found: dict[Indices, Leaf] = {}
    for (around, numbers), leaf in kinds.items():
        if all(number in indices.members for number, indices in zip(outer, around, strict=True)):
            found.setdefault(numbers, leaf)
    if not found:
        return None
    (numbers, leaf), *others = found.items()
    if not others:
        return leaf, numbers.count
    # In a stage, layers of several kinds are counted by one entry of a list; in a whole model several keys count them.
    return leaf, sum(own.count if outer else int(own.count) for own in found)


def agreed(sights: Sights) -> list[Hint]:
    """The value of each key that all sights agree on, if it is not the one that was read."""
    return [
        Hint(key, read, value, source, _noun(values[value]))
        for key, values in sights.keys.items()
        for read, source in [sights.read[key]]
        for value in values
        if len(values) == 1 and value != read
    ]


def derived(size: int, value: int, absent: Iterable[str]) -> list[Hint]:
    """Every value of one key that would give a derived size the value that is seen.

    Args:
        absent: keys that the family reads and the config lacks, one of which may override the arithmetic.
    """
    hints: list[Hint] = []
    override: list[Hint] = []
    if not isinstance(size, Dim) or not value:
        return []
    for source, read in dict.fromkeys(size.read()):
        key, fits = source.removesuffix(BY_DEFAULT), _inverse(size, source, value)
        if source.endswith(", fixed"):
            continue
        if " " not in key and fits is not None:
            hints.append(Hint(key, read, fits, source))
        # An absent key may stand for one that is read in its place, as for heads of keys and values. Where that one is
        # read twice, as in h·(d/h), the size is in proportion to the place that the absent key has.
        for instead in dict.fromkeys((fits, _proportional(size, read, value))):
            if instead is not None:
                override += [Hint(other, read, instead, source) for other in absent if other != key]
    return hints + override


def _proportional(size: int, read: int, value: int) -> int | None:
    """The number that is to the one that was read as the value is to the size; None if that is no whole number."""
    number, rest = divmod(int(value) * int(read), int(size)) if size > 0 else (0, 1)
    return None if rest else number


def _inverse(size: Dim, source: str, value: int) -> int | None:
    """The least number that, read at a source, would give a size this value, if the size rises or falls steadily.

    Else it is the nearest to the one that was read, as where heads are a factor and a divisor.
    """
    result = size.depending(source)
    least, read = _solved(result, value), dict(size.read())[source]
    if least is not None:
        return least
    near = sorted(range(1, min(_SCANNED, 4 * int(read)) + 1), key=lambda number: abs(number - read))
    return next((number for number in near if _at(result, number) == value), None)


def _solved(result: Callable[[int], int], value: int) -> int | None:
    """The least number that gives this value, if the results rise or fall steadily from 1 on; else perhaps None."""
    low, high = 1, 2**32
    try:
        rising = result(low) < result(high)
        while low < high:
            middle = (low + high) // 2
            reached = result(middle) >= value if rising else result(middle) <= value
            low, high = (low, middle) if reached else (middle + 1, high)
        return low if result(low) == value else None
    except ZeroDivisionError:
        return None


def _at(result: Callable[[int], int], number: int) -> int | None:
    """The result at a number; None if it divides by a part of the number that is 0, such as by the half of 1."""
    try:
        return result(number)
    except ZeroDivisionError:
        return None


def scaled(size: int, value: int, numbers: Mapping[str, int]) -> Iterator[Hint]:
    """Values of keys that a size may be a multiple of, or of their squares.

    Args:
        numbers: the keys with the values that were read.
    """
    if size <= 0 or value <= 0:
        return  # a size below 0 is none that a key could be in proportion to
    for factor in dict.fromkeys((value / size, (value / size) ** 0.5, size / value)):
        for key, read in numbers.items():
            if (fits := round(read * factor, 9)).is_integer():
                yield Hint(key, read, int(fits), key)


def _noun(sights: Sequence[Sight]) -> str:
    """The noun that the value counts, such as `layer`; empty if that is unclear."""
    components = {sight.leaf.component for sight in sights}
    counted = [sight for sight in sights if sight.stack]
    if any(sight.within is None for sight in counted):
        return "layer"
    if counted and components <= {"experts", "router"}:
        return "expert"
    return "row" if not counted and components <= {"embedding", "lm_head"} else ""
