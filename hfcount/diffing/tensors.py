"""The tensors of one side under the names that both sides have in common, however each stores them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.inspection import Inspection
from hfcount.checkpoints.stored_rows import component
from hfcount.diffing.fused_tensors import Bytes, relaid
from hfcount.formats import dtypes
from hfcount.formats.gguf.header import Header
from hfcount.formats.safetensors import Entry
from hfcount.spec.tree.leaves import Leaf, joined, split
from hfcount.spec.tree.name_patterns import Alike, filled
from hfcount.spec.tree.nodes import Component
from hfcount.verifier.findings import Outcome
from hfcount.verifier.match import Match


class Logical(NamedTuple):
    """One tensor as the model has it.

    Args:
        name: what this side's config calls it, or the stored name where no config describes it.
        shape: in elements.
        dtype: by the format's name, or how it is packed; None if unknown.
        leaf: its leaf in the blueprint; None where no config describes it.
        stored: the name that it, or the first part of it, is stored under.
        bytes: where its bytes are, in order; None where they are packed, or not known.
        role: its component where it has no leaf.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str | None
    leaf: Leaf | None
    stored: str
    bytes: tuple[Bytes, ...] | None = None
    role: Component | None = None

    @property
    def component(self) -> str | None:
        """What it is counted under."""
        return self.leaf.component if self.leaf else self.role


@dataclass(frozen=True, slots=True)
class Inventory:
    """All tensors of one side, by a key that does not depend on how they are stored.

    Args:
        tensors: by key.
        copies: stored names of second copies of tied tensors, and of what no loader reads any more.
        packing: the scheme of packed weights, and `layouts` what it calls how they are stored; empty if none are.
        measured: whether shapes are from headers, not from the config.
        listed: whether names are those that are stored, not those that a config describes.
    """

    tensors: Mapping[str, Logical]
    copies: tuple[str, ...] = ()
    packing: str = ""
    layouts: tuple[str, ...] = ()
    measured: bool = True
    listed: bool = True


def inventory(inspection: Inspection, entries: Mapping[str, Entry] | None, raw: bool = False) -> Inventory:
    """The tensors of a checkpoint.

    Args:
        entries: tensors in headers; None if none were read.
        raw: whether packed weights are taken as they are stored, and not as the matrices that they stand for.
    """
    blueprint, outcome = inspection.blueprint, inspection.outcome
    if blueprint is None:
        return by_entries(entries or {})
    packed = outcome.packed
    match = packed.match if packed else outcome.match
    if match is None or (entries is None and inspection.evidence.fitting_index is None):
        return by_entries(entries, keyed(blueprint)) if entries else _described(blueprint, keyed(blueprint))
    spelling = packed.spelling if packed else match.spelling
    known = entries or _as_described(match, spelling, outcome, blueprint)
    found = _Taken(known, spelling, outcome.apart, keyed(blueprint))
    found.take(match)
    modules = [(one.leaf, one.layout.label) for one in packed.packed if one.layout] if packed else []
    if modules and not raw:
        found.unpack(modules, spelling)
        found.named(match.unexpected)
    else:
        found.named([name for name in known if name not in found.used])
    labels = tuple(dict.fromkeys(label for _, label in modules))
    name = packed.name if packed and modules else ""
    return Inventory(found.tensors, tuple(found.copies), name, labels, bool(entries))


def by_entries(entries: Mapping[str, Entry], key: Callable[[str], str] = str) -> Inventory:
    """The tensors by their stored names, where no config says more."""
    return Inventory({key(name): _plain(name, entry) for name, entry in entries.items()})


def of_gguf(header: Header) -> Inventory:
    """The tensors of a GGUF file, with their types for dtypes."""
    return Inventory(
        {
            name: Logical(name, one.shape, one.type, None, name, (Bytes(name, 0, one.bytes),), component(name))
            for name, one in header.tensors.items()
        }
    )


def keyed(blueprint: Blueprint) -> Callable[[str], str]:
    """What a name has in common with all spellings of it, without the base model's prefix."""
    spellings = blueprint.spellings

    def worked(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        return split(spellings.common(name).removeprefix(spellings.prefix))

    forms = Alike(worked)

    def key(name: str) -> str:
        (text, marked), numbers = forms.of(name)
        return joined(text, filled(marked, numbers))

    return key


def _plain(name: str, entry: Entry) -> Logical:
    return Logical(name, entry.shape, entry.dtype, None, name, (Bytes(name, 0, entry.end - entry.begin),))


def _described(blueprint: Blueprint, key: Callable[[str], str]) -> Inventory:
    """What a config alone describes."""
    dtype = dtypes.code(blueprint.spec.dtype)
    found = {}
    for leaf in blueprint.stored_leaves():
        shape = tuple(map(int, leaf.shape))
        for name in leaf.names():
            found[key(name)] = Logical(name, shape, None if leaf.kind == "buffer" else dtype, leaf, name)
    return Inventory(found, measured=False, listed=False)


def _as_described(
    match: Match, spelling: Mapping[str, str], outcome: Outcome, blueprint: Blueprint
) -> dict[str, Entry]:
    """The tensors that an index lists, with the shapes that the config gives them."""
    known = [dtype for dtype in outcome.dtypes or {} if dtype in dtypes.FLOATING]
    dtype = known[0] if len(known) == 1 else dtypes.code(blueprint.spec.dtype) or ""
    found = {}
    for leaf, count in match.listed:
        shape = tuple(map(int, leaf.shape))
        for name in match.names(leaf) if count else ():
            found[spelling.get(name, name)] = Entry(_dtype(leaf, dtype), shape, 0, 0)
    return found | {name: Entry("", (), 0, 0) for name in match.unexpected}


def _dtype(leaf: Leaf, dtype: str) -> str:
    if leaf.dtypes:
        return leaf.dtypes[0]
    return "" if leaf.kind == "buffer" else dtype


class _Taken:
    """What is found as the tensors of a blueprint, and what is left of the stored ones."""

    def __init__(
        self,
        entries: Mapping[str, Entry],
        spelling: Mapping[str, str],
        apart: frozenset[str],
        key: Callable[[str], str],
    ) -> None:
        self.entries, self.spelling, self.apart, self.key = entries, spelling, apart, key
        self.tensors: dict[str, Logical] = {}
        self.copies: list[str] = []
        self.used: set[str] = set()

    def take(self, match: Match) -> None:
        """Takes all tensors that have a leaf."""
        swapped = {id(leaf) for swap in match.swapped for leaf in swap.stored}
        stand_ins = {id(leaf) for leaf in match.stand_ins}
        for leaf, count in match.listed:
            if count and id(leaf) not in swapped:
                for name, stored, entry in self._stored(leaf, match.names(leaf)):
                    self._one(leaf, leaf.tied_to or name if id(leaf) in stand_ins else name, stored, entry)
        for swap in match.swapped:
            parts = {
                name: (stored, entry)
                for leaf in swap.stored
                for name, stored, entry in self._stored(leaf, match.names(leaf))
            }
            for leaf, name, shape, dtype, pieces in relaid(swap, parts):
                self.tensors[self.key(name)] = Logical(name, shape, dtype, leaf, pieces[0].stored, pieces)
        for leaf in match.heads:
            for name, stored, entry in self._stored(leaf, leaf.names()):
                self._one(leaf, name, stored, entry)

    def _stored(self, leaf: Leaf, names: list[str]) -> Iterator[tuple[str, str, Entry]]:
        for name in names:
            stored = self.spelling.get(name, name)
            entry = self.entries.get(stored)
            if entry is not None:
                self.used.add(stored)
                yield name, stored, entry

    def _one(self, leaf: Leaf, name: str, stored: str, entry: Entry) -> None:
        stands_in = name == leaf.tied_to
        copied = leaf.label == "tied" and not stands_in and leaf.name not in self.apart
        if copied or leaf.label == "legacy":
            self.copies.append(stored)
            return
        whole = (Bytes(stored, 0, entry.end - entry.begin),) if entry.end else None
        self.tensors[self.key(name)] = Logical(name, entry.shape, entry.dtype or None, leaf, stored, whole)

    def unpack(self, modules: list[tuple[Leaf, str]], spelling: Mapping[str, str]) -> None:
        """Puts the matrices that packed tensors stand for in their place."""
        self.tensors = {key: one for key, one in self.tensors.items() if one.leaf is None or one.leaf.dtypes is None}
        for leaf, label in modules:
            shape = tuple(map(int, leaf.shape))
            for name in leaf.names():
                one = Logical(name, shape, label, replace(leaf, dtypes=None), spelling.get(name, name))
                self.tensors[self.key(name)] = one

    def named(self, names: list[str]) -> None:
        """Takes these tensors by their own names."""
        for name in names:
            entry = self.entries.get(name)
            if entry is not None and name not in self.used:
                self.tensors.setdefault(self.key(name), _plain(name, entry))
