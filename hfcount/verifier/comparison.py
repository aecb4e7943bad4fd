"""One checkpoint before the checks: what it must hold, what it lists, and how far it was looked into."""

from collections.abc import Mapping
from dataclasses import dataclass

from hfcount.formats.index import Index
from hfcount.plan import Blueprint
from hfcount.storage import dtypes
from hfcount.text import printable
from hfcount.tree.leaves import Finder, Leaf
from hfcount.verifier import names, sizes
from hfcount.verifier.header_view import HeaderView
from hfcount.verifier.names import Match


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the checks go by.

    Args:
        index: None for a single file.
        declared: the config's dtype by the format's name, None when it gives none.
        reading: how the index's total_size comes about, None when there is no exact reading.
        seen: what the headers show, None at depth index.
        spelling: the stored name of each tensor that goes by another prefix.
    """

    blueprint: Blueprint
    index: Index | None
    match: Match
    declared: str | None
    reading: sizes.Reading | None
    seen: HeaderView | None
    spelling: Mapping[str, str]

    @classmethod
    def of(
        cls, blueprint: Blueprint, index: Index | None, seen: HeaderView | None = None, match: Match | None = None
    ) -> "Comparison":
        """Matches the names, and reads the bytes where every listed tensor is known.

        Args:
            match: of the index's names, where an earlier step has it.
        """
        listed: Mapping[str, object] = index.weight_map if index else seen.entries if seen else {}
        if index and seen and seen.omitted:
            finder = Finder(blueprint.leaves)
            listed = dict(listed) | {name: None for name, _ in seen.omitted if finder.find(name)}
            match = None
        if match is None:
            match = names.match(blueprint.leaves, listed, blueprint.asides)
            if match.unexpected:
                names.set_heads_apart(match, blueprint.head, blueprint.other_heads)
        declared = dtypes.code(blueprint.spec.dtype)
        reading = None
        if index and index.total_size and not match.unexpected and not blueprint.asides:
            reading = sizes.exact(index.total_size, match.weights, match.buffers, declared)
        spelling = {expected: found for found, expected in match.renamed}
        return cls(blueprint, index, match, declared, reading, seen, spelling)

    @property
    def subject(self) -> str:
        """What the blueprint is of, for messages."""
        return printable(self.blueprint.spec.architecture or self.blueprint.spec.family)

    def bytes(self, leaf: Leaf, count: int) -> int | None:
        """The size of so many tensors of a leaf, where their dtype is known."""
        if self.seen is not None:
            stored = [self.seen.entries.get(self.spelling.get(name, name)) for name in self.match.names(leaf)]
            return sum(entry.end - entry.begin for entry in stored if entry)
        elements, buffer = count * leaf.size, leaf.kind == "buffer"
        if self.reading is not None:
            return elements * (self.reading.buffer_width if buffer else self.reading.width)
        return elements * dtypes.width(self.declared) if self.declared and not buffer else None
