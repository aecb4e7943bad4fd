"""How the stored names match the leaves of a blueprint; names.py fills it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hfcount.record import State, made
from hfcount.spec.tree.leaves import Label, Leaf

if TYPE_CHECKING:
    from hfcount.spec.tree.spellings import Swap
    from hfcount.verifier.wrappers import Wrapped


class Unfinished(State, kw_only=False):
    """Prediction layers that are incomplete, and ordinary layers in their place.

    Args:
        lacking: folded names of missing tensors.
        count: number of missing tensors.
        elements: elements of missing tensors.
        expected: the number of tensors of the incomplete layers.
        ordinary: leaves, and their names that are listed, of layers without a prediction layer's own tensors.
    """

    lacking: list[str] = made(factory=list)
    count: int = 0
    elements: int = 0
    expected: int = 0
    ordinary: list[tuple[Leaf, list[str]]] = made(factory=list)


class Match(State, kw_only=False):
    """How the names of a checkpoint match a blueprint.

    Args:
        listed: each leaf with the number of its tensors that the checkpoint lists, in the layout that it has them in.
        files: for each of `listed` how many of its tensors are in which file, where that was asked for.
        missing: names that the checkpoint lacks, folded.
        missing_count: the number of tensors that it lacks.
        missing_elements: elements of the tensors that it lacks.
        unexpected: names that the blueprint lacks.
        renamed: names that the reference takes for others, as (listed, expected).
        swapped: tensors in another layout, which the reference converts.
        stand_ins: tied names that are listed in place of the one that they are tied to.
        wrapped: the changes of training wrappers; None if there are none.
        unfinished: incomplete prediction layers; None if there are none.
        heads: leaves of other classes' heads that are listed.
        few: listed names of leaves that are too large to enumerate, by the id of the leaf.
    """

    listed: list[tuple[Leaf, int]] = made(factory=list)
    files: list[Mapping[str | None, int]] = made(factory=list)
    missing: list[str] = made(factory=list)
    missing_count: int = 0
    missing_elements: int = 0
    unexpected: list[str] = made(factory=list)
    renamed: list[tuple[str, str]] = made(factory=list)
    swapped: "list[Swap]" = made(factory=list)
    stand_ins: list[Leaf] = made(factory=list)
    wrapped: "Wrapped | None" = None
    unfinished: Unfinished | None = None
    heads: list[Leaf] = made(factory=list)
    few: dict[int, list[str]] = made(factory=dict)

    @property
    def complete(self) -> bool:
        """Whether the names are those of the blueprint: nothing is missing, and nothing else is there."""
        return not (self.missing_count or self.unexpected or self.wrapped or self.unfinished)

    @property
    def differences(self) -> int:
        """How many tensors are missing, and how many others are there."""
        return self.missing_count + len(self.unexpected)

    @property
    def weights(self) -> int:
        """Elements of the parameters, tied copies and other heads that are listed."""
        listed = sum(count * leaf.size for leaf, count in self.listed if leaf.kind == "parameter")
        return listed + sum(leaf.size for leaf in self.heads)

    @property
    def buffers(self) -> int:
        """Elements of the buffers that are listed, but for masks and indices."""
        return sum(count * leaf.size for leaf, count in self.listed if leaf.kind == "buffer" and not leaf.whole)

    @property
    def flags(self) -> int:
        """Elements of the masks and indices that are listed."""
        return sum(count * leaf.size for leaf, count in self.listed if leaf.whole)

    @property
    def spelling(self) -> dict[str, str]:
        """The names of the checkpoint that differ from the blueprint's, by the blueprint's name."""
        return {expected: stored for stored, expected in self.taken.items()}

    @property
    def taken(self) -> dict[str, str]:
        """The blueprint's names for names of the checkpoint that differ from them."""
        return dict(self.renamed if self.wrapped is None else [*self.renamed, *self.wrapped.pairs])

    def names(self, leaf: Leaf) -> list[str]:
        """Names of a leaf to look up; of a very large one only those listed, so that the checkpoint bounds the cost."""
        few = self.few.get(id(leaf))
        return leaf.names() if few is None else few

    def extra(self, *labels: Label) -> list[tuple[Leaf, int]]:
        """The leaves with these labels that are listed, and how many tensors of each."""
        return [(leaf, count) for leaf, count in self.listed if count and leaf.label in labels]
