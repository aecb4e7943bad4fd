"""Pairs each tensor whose values were read with its leaf in the blueprint."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.data.centred_norms import CentredNorms
from hfcount.checkpoints.data.locations import TensorLocation
from hfcount.checkpoints.data.tally import Tally
from hfcount.checkpoints.inspection import Inspection
from hfcount.formats.dtypes import BITS
from hfcount.formats.gguf.types import BLOCKS
from hfcount.report.figures import TensorStatistics
from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.text import printable
from hfcount.verifier.findings import Outcome
from hfcount.verifier.values import index_of

_SCALES = ("scale", "absmax")
_TABLES = ("embedding", "router")
_GGUF_TABLES = ("token_embd", "output", "position_embd", "token_types", "per_layer_token_embd", "rope_freqs")
_WEIGHTS = (".weight", ".qweight", ".weight_packed")


class Subject(NamedTuple):
    """A tensor that was read: its location, its tally, and its leaf of the blueprint, if any.

    Args:
        centred: whether it is the weight of a norm that begins with zeros, because its class adds one.
    """

    name: str
    place: TensorLocation
    tally: Tally
    leaf: Leaf | None
    centred: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """In elements."""
        return self.place.entry.shape

    @property
    def loaded(self) -> bool:
        """Whether a loader takes it, as far as is known: not where it is a buffer that is obsolete."""
        return self.leaf is None or self.leaf.label != "legacy"

    @property
    def buffer(self) -> bool:
        """Whether it is no parameter: a mask, a table, a running mean."""
        return self.leaf is not None and self.leaf.kind == "buffer"

    @property
    def packed(self) -> bool:
        """Whether it is a part of packed weights."""
        return self.leaf is not None and self.leaf.dtypes is not None

    @property
    def scale(self) -> bool:
        """Whether it is a scale of packed weights, or of a cache."""
        last = self.name.rpartition(".")[2]
        return self.blocks or (self.packed and any(word in last for word in _SCALES))

    @property
    def blocks(self) -> bool:
        """Whether it is of a quantised type of GGUF, of which the scales are looked at."""
        return self.place.entry.dtype in BLOCKS

    @property
    def matrix(self) -> bool:
        """Whether it is a parameter in which more than one extent is above 1, and no biases of several experts."""
        if self.leaf is None or self.buffer or self.name.endswith("bias"):
            return False
        return sum(size > 1 for size in self.shape) > 1

    @property
    def weights(self) -> bool:
        """Whether it is a matrix that maps what goes through the model: no table with a row for each token or place."""
        if self.place.file.lower().endswith(".gguf"):
            several = self.name.endswith(".weight") and sum(size > 1 for size in self.shape) > 1
            return several and self.name.partition(".")[0] not in _GGUF_TABLES
        if self.leaf is None or not self.matrix or self.scale or not self.loaded or self.leaf.tied_to:
            return False
        named = self.name.endswith(_WEIGHTS) or self.leaf.component == "experts"
        return named and (self.leaf.linear or self.leaf.component not in _TABLES) and self.leaf.component != "lm_head"

    @property
    def varied(self) -> bool:
        """Whether it is weights of several values, all of them numbers, and no text."""
        return self.weights and self._has_numbers

    @property
    def varied_table(self) -> bool:
        """Whether it is an embedding or a head of several values, all of them numbers, and no text."""
        table = self.leaf is not None and self.leaf.component in (*_TABLES, "lm_head") and not self.leaf.tied_to
        return table and self.matrix and self.loaded and not (self.packed or self.weights) and self._has_numbers

    @property
    def _has_numbers(self) -> bool:
        tally = self.tally
        return tally.constant is None and not (tally.nan or tally.infinite or tally.text)

    @property
    def norm(self) -> bool:
        """Whether it is the weight of a normalisation."""
        if self.leaf is None or self.buffer or len(self.shape) != 1 or not self.name.endswith("weight"):
            return False
        return self.leaf.component == "norm" or "norm" in self.name.lower()

    def bits(self, code: int) -> str:
        """The bits of a value, such as `0x7FC0`."""
        return f"0x{code:0{-(-BITS[self.place.entry.dtype] // 4)}X}"

    @property
    def statistics(self) -> TensorStatistics:
        """Its statistics for the report."""
        tally, least_and_most = self.tally, self.tally.range or (None, None)
        bad = [spot.number for spot in (tally.first_nan, tally.first_infinite) if spot]
        return TensorStatistics(
            name=printable(self.name),
            file=printable(self.place.file),
            dtype=self.place.entry.dtype,
            shape=self.shape,
            elements=tally.count,
            min=least_and_most[0],
            max=least_and_most[1],
            mean=tally.mean,
            rms=tally.rms,
            zeros=tally.zeros,
            nan=tally.nan,
            infinite=tally.infinite,
            component=self.leaf.component if self.leaf else None,
            first_bad=index_of(min(bad), self.shape) if bad else None,
        )


@dataclass(frozen=True, slots=True)
class Subjects:
    """All tensors that were read, by name."""

    by_name: Mapping[str, Subject]

    def __iter__(self) -> Iterator[Subject]:
        return iter(self.by_name.values())

    def beside(self, name: str, ends: tuple[str, ...]) -> Subject | None:
        """The first tensor of the same module that ends so."""
        module = name[: name.rfind(".") + 1]
        return next((self.by_name[module + end] for end in ends if module + end in self.by_name), None)


def subjects(places: Mapping[str, TensorLocation], tallies: Mapping[str, Tally], inspection: Inspection) -> Subjects:
    """The tensors with their leaves."""
    finder, expected = _leaves(inspection.blueprint, inspection.outcome)
    norms = CentredNorms(inspection.blueprint.spec if inspection.blueprint else None)
    by_name = {}
    for name, place in places.items():
        leaf = finder.find(expected.get(name, name)) if finder else None
        by_name[name] = Subject(name, place, tallies[name], leaf, leaf is not None and norms.has(leaf))
    return Subjects(by_name)


def _leaves(blueprint: Blueprint | None, outcome: Outcome) -> tuple[Finder | None, Mapping[str, str]]:
    """What finds the leaf of a name of the blueprint, and these names by those of the checkpoint where they differ."""
    if blueprint is None:
        return None, {}
    match = outcome.packed.match if outcome.packed else outcome.match
    spelling = outcome.packed.spelling if outcome.packed else match.spelling if match else {}
    leaves = [leaf for leaf, _ in match.listed] if match else blueprint.leaves
    return Finder(leaves), {stored: expected for expected, stored in spelling.items()}
