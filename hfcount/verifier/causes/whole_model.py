"""Groups missing or unexpected tensors by complete parts and complete layers."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import plural
from hfcount.verifier.causes.stored_rows import Row, StoredRows, Text, text_of
from hfcount.verifier.folded_names import fold, written

_ROWS = 4  # a part of fewer rows is given by its names

Places = Iterable[tuple[Text, tuple[int, ...]]]


@dataclass(slots=True)
class WholeParts:
    """Tensors that one side has and the other lacks.

    Args:
        parts: names of parts of which the other side has nothing, with their tensors.
        layers: stacks with the numbers of layers of which the other side has nothing, and their tensors.
        rest: tensors of parts and layers that the other side has something of.
    """

    parts: dict[str, list[str]] = field(default_factory=dict)
    layers: dict[Text, tuple[set[int], list[str]]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)

    def rows(self) -> list[str]:
        """Folded names; `model.vision_tower.* (437 tensors)` for a whole part, and alike for whole layers."""
        rows = []
        for names in self.parts.values():
            rows += [f"{_shared(names)}.* ({plural(len(names), 'tensor')})"] if is_large(names) else fold(names)
        for stack, (numbers, names) in self.layers.items():
            layers = written((*stack, ".*"), [Indices.of(numbers)])
            rows.append(f"{layers} ({plural(len(names), 'tensor')})")
        return rows + fold(self.rest)


def wholes(places: Places, other: StoredRows) -> WholeParts:
    """Groups tensors that the other side lacks."""
    result = WholeParts()
    for text, numbers in places:
        name = written(text, [Indices.of([number]) for number in numbers])
        part = _part(text, other.modules)
        if part:
            result.parts.setdefault(part, []).append(name)
        elif numbers and numbers[0] not in other.numbers(text[:1]).get((), ()):
            layers, names = result.layers.setdefault(text[:1], (set(), []))
            layers.add(numbers[0])
            names.append(name)
        else:
            result.rest.append(name)
    return result


def described(leaves: Iterable[Leaf]) -> StoredRows:
    """The names that a blueprint has."""
    rows: dict[Text, list[Row]] = {}
    for leaf in leaves:
        rows.setdefault(text_of(leaf), []).append(Row(text_of(leaf), tuple(leaf.indices), None))
    return StoredRows(rows)


def _shared(names: Sequence[str]) -> str:
    """The innermost module that all these tensors are in."""
    first, last = (name.split(".")[:-1] for name in (min(names), max(names)))
    return ".".join(part for part, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))


def is_large(names: Iterable[str]) -> bool:
    """Whether the tensors of a part are too many to be given one by one."""
    return len(fold(names)) >= _ROWS


def _part(text: Text, modules: Collection[str]) -> str:
    """The outermost module around a tensor that is none of these; empty if there is none."""
    path = text[0][1:].split(".")
    for end in range(1, len(path) + (len(text) > 1)):
        if (name := ".".join(path[:end])) not in modules:
            return name
    return ""
