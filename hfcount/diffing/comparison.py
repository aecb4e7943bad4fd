"""Everything that was compared of two checkpoints, and which differences nothing has explained so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.matching import Matches
from hfcount.diffing.pieces import ConfigKey, FileSums, Kind, Relation, Values
from hfcount.diffing.tensors import Inventory, Logical
from hfcount.diffing.values import Gaps

_LOST = ("HF003", "HF004", "HF005")
"""What is found where weight files are not there as a whole."""


@dataclass(frozen=True)
class Comparison:
    """Everything that was compared."""

    a: LoadedSide
    b: LoadedSide
    matched: Matches | None
    inventories: tuple[Inventory | None, Inventory | None]
    config: Sequence[ConfigKey] = ()
    files: FileSums | None = None
    values: Values | None = None
    gaps: Gaps | None = None

    @property
    def unread(self) -> tuple[str, ...]:
        """The sides of which files cannot be read, so that less is known of them than is there."""
        sides = (("A", self.a, self.inventories[0]), ("B", self.b, self.inventories[1]))
        return tuple(
            name
            for name, side, tensors in sides
            if side.broken
            and not (tensors and tensors.measured and tensors.listed and {*side.broken}.isdisjoint(_LOST))
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why tensors that are the same do not tell that the structures are, as what B is."""
        reasons = []
        if self.b.misread:
            reasons.append("has a config that cannot be read, so that tensors alone were compared")
        if self.a.misread:
            reasons.append("was compared with A's tensors alone, since A's config cannot be read")
        if self.b.weightless and not self.a.weightless:
            reasons.append("has no weights: its config alone was compared")
        if self.a.weightless and not self.b.weightless:
            reasons.append("was compared with A's config alone, since A has no weights")
        return tuple(reasons)

    @property
    def described(self) -> bool:
        """Whether of a side nothing is known but what its config describes."""
        return any(tensors is not None and not tensors.listed for tensors in self.inventories)

    @property
    def packing(self) -> tuple[str, str]:
        """How weights of A and B are packed; empty where they are not."""
        a, b = (", ".join(tensors.layouts) if tensors else "" for tensors in self.inventories)
        return a, b


@dataclass
class Unexplained:
    """Differences that nothing has explained so far, by key."""

    only_a: dict[str, Logical]
    only_b: dict[str, Logical]
    shapes: dict[str, tuple[Logical, Logical]]
    relations: list[Relation] = field(default_factory=list)

    def say(self, kind: Kind, text: str) -> None:
        """Adds what B is to A."""
        self.relations.append(Relation(kind=kind, text=text))

    @property
    def count(self) -> int:
        """How many tensors are left."""
        return len(self.only_a) + len(self.only_b) + len(self.shapes)
