"""What is known of two checkpoints, and the differences that are not explained yet."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.matching import Matches
from hfcount.diffing.pieces import ConfigKey, FileSums, Kind, Relation, Values
from hfcount.diffing.tensors import Inventory, Logical
from hfcount.diffing.values import Gaps

_LOST = ("HF003", "HF004", "HF005")
"""Codes of findings about missing or unreadable weight files."""


@dataclass(frozen=True)
class Comparison:
    """Both sides, their matched tensors, and how configs, files and values compare; `order` is that of their layers."""

    a: LoadedSide
    b: LoadedSide
    matched: Matches | None
    inventories: tuple[Inventory | None, Inventory | None]
    config: Sequence[ConfigKey] = ()
    files: FileSums | None = None
    values: Values | None = None
    gaps: Gaps | None = None
    order: Sequence[Relation] = ()

    @property
    def unread(self) -> tuple[str, ...]:
        """The names (A, B) of sides with missing or unreadable files."""
        sides = (("A", self.a, self.inventories[0]), ("B", self.b, self.inventories[1]))
        return tuple(
            name
            for name, side, tensors in sides
            if side.broken
            and not (tensors and tensors.measured and tensors.listed and {*side.broken}.isdisjoint(_LOST))
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons why equal tensors do not prove an equal structure, phrased as what B is."""
        reasons = []
        if self.b.misread:
            reasons.append("has a config that cannot be read, so only tensors were compared")
        if self.a.misread:
            reasons.append("was compared only with A's tensors, because A's config cannot be read")
        if self.b.weightless and not self.a.weightless:
            reasons.append("has no weights: only its config was compared")
        if self.a.weightless and not self.b.weightless:
            reasons.append("was compared only with A's config, because A has no weights")
        return tuple(reasons)

    @property
    def described(self) -> bool:
        """Whether a side is known by its config alone."""
        return any(tensors is not None and not tensors.listed for tensors in self.inventories)

    @property
    def packing(self) -> tuple[str, str]:
        """The packing layouts of A and B; empty for unpacked weights."""
        a, b = (", ".join(tensors.layouts) if tensors else "" for tensors in self.inventories)
        return a, b


@dataclass
class Unexplained:
    """Differences that no relation explains yet, by key."""

    only_a: dict[str, Logical]
    only_b: dict[str, Logical]
    shapes: dict[str, tuple[Logical, Logical]]
    relations: list[Relation] = field(default_factory=list)

    def say(self, kind: Kind, text: str) -> None:
        """Adds a relation of B to A."""
        self.relations.append(Relation(kind=kind, text=text))

    @property
    def count(self) -> int:
        """The number of unexplained tensors."""
        return len(self.only_a) + len(self.only_b) + len(self.shapes)
