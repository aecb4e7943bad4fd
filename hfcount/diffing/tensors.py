"""The tensors of one side under keys that do not depend on how they are stored."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.inspection import Inspection
from hfcount.checkpoints.stored_rows import component
from hfcount.diffing.fused_tensors import Bytes, relaid
from hfcount.formats import dtypes
from hfcount.formats.gguf.header import GgufHeader
from hfcount.formats.safetensors import Entry
from hfcount.spec.tree.leaves import Leaf, joined, split
from hfcount.spec.tree.name_patterns import Alike, filled
from hfcount.spec.tree.nodes import Component
from hfcount.verifier.findings import Outcome
from hfcount.verifier.match import Match


class Logical(NamedTuple):
    """A tensor of the model, however it is stored.

    Args:
        name: the config's name, or the stored name if no config describes it.
        shape: in elements.
        dtype: the format's name, or the packing layout; None if unknown.
        leaf: its leaf in the blueprint; None if no config describes it.
        stored: the stored name of it, or of its first part.
        bytes: its byte ranges, in order; None if packed or unknown.
        role: its component if it has no leaf.
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
        """The component that counts it."""
        return self.leaf.component if self.leaf else self.role


@dataclass(frozen=True, slots=True)
class Inventory:
    """All tensors of one side, by storage-independent key.

    Args:
        tensors: by key.
        copies: stored names of duplicates of tied tensors and of obsolete tensors.
        packing: the scheme of packed weights, and `layouts` its storage layouts; empty if nothing is packed.
        measured: whether shapes come from headers rather than the config.
        listed: whether names come from files rather than the config.
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
        entries: tensors in headers; None if no header was read.
        raw: whether packed tensors stay as stored instead of becoming the matrices they encode.
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
    builder = _InventoryBuilder(known, spelling, outcome.untied, keyed(blueprint))
    builder.take(match)
    modules = [(module.leaf, module.layout.label) for module in packed.packed if module.layout] if packed else []
    if modules and not raw:
        builder.unpack(modules, spelling)
        builder.named(match.unexpected)
    else:
        builder.named([name for name in known if name not in builder.used])
    labels = tuple(dict.fromkeys(label for _, label in modules))
    name = packed.name if packed and modules else ""
    return Inventory(builder.tensors, tuple(builder.copies), name, labels, bool(entries))


def by_entries(entries: Mapping[str, Entry], key: Callable[[str], str] = str) -> Inventory:
    """An inventory by stored name, for checkpoints without a blueprint."""
    return Inventory({key(name): _plain(name, entry) for name, entry in entries.items()})


def of_gguf(header: GgufHeader) -> Inventory:
    """The tensors of a GGUF file; dtypes are GGML types."""
    return Inventory(
        {
            name: Logical(name, tensor.shape, tensor.type, None, name, (Bytes(name, 0, tensor.bytes),), component(name))
            for name, tensor in header.tensors.items()
        }
    )


def keyed(blueprint: Blueprint) -> Callable[[str], str]:
    """A function that maps every spelling of a name to one key, without the base model's prefix."""
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
    """The inventory that a config describes."""
    dtype = dtypes.code(blueprint.spec.dtype)
    tensors = {}
    for leaf in blueprint.stored_leaves():
        shape = tuple(map(int, leaf.shape))
        for name in leaf.names():
            tensors[key(name)] = Logical(name, shape, None if leaf.kind == "buffer" else dtype, leaf, name)
    return Inventory(tensors, measured=False, listed=False)


def _as_described(
    match: Match, spelling: Mapping[str, str], outcome: Outcome, blueprint: Blueprint
) -> dict[str, Entry]:
    """The tensors listed by an index, with the config's shapes."""
    known = [dtype for dtype in outcome.dtypes or {} if dtype in dtypes.FLOATING]
    dtype = known[0] if len(known) == 1 else dtypes.code(blueprint.spec.dtype) or ""
    entries_ = {}
    for leaf, count in match.listed:
        shape = tuple(map(int, leaf.shape))
        for name in match.names(leaf) if count else ():
            entries_[spelling.get(name, name)] = Entry(_dtype(leaf, dtype), shape, 0, 0)
    return entries_ | {name: Entry("", (), 0, 0) for name in match.unexpected}


def _dtype(leaf: Leaf, dtype: str) -> str:
    if leaf.dtypes:
        return leaf.dtypes[0]
    return "" if leaf.kind == "buffer" else dtype


class _InventoryBuilder:
    """Assigns stored tensors to the leaves of a blueprint."""

    def __init__(
        self,
        entries: Mapping[str, Entry],
        spelling: Mapping[str, str],
        untied: frozenset[str],
        key: Callable[[str], str],
    ) -> None:
        self.entries, self.spelling, self.untied, self.key = entries, spelling, untied, key
        self.tensors: dict[str, Logical] = {}
        self.copies: list[str] = []
        self.used: set[str] = set()

    def take(self, match: Match) -> None:
        """Adds all stored tensors that have a leaf."""
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
        copied = leaf.label == "tied" and not stands_in and leaf.name not in self.untied
        if copied or leaf.label == "legacy":
            self.copies.append(stored)
            return
        bytes_ = (Bytes(stored, 0, entry.end - entry.begin),) if entry.end else None
        self.tensors[self.key(name)] = Logical(name, entry.shape, entry.dtype or None, leaf, stored, bytes_)

    def unpack(self, modules: list[tuple[Leaf, str]], spelling: Mapping[str, str]) -> None:
        """Replaces packed tensors by the matrices they encode."""
        packed = [key for key, tensor in self.tensors.items() if tensor.leaf and tensor.leaf.dtypes is not None]
        for key in packed:
            del self.tensors[key]
        for leaf, label in modules:
            shape = tuple(map(int, leaf.shape))
            for name in leaf.names():
                tensor = Logical(name, shape, label, leaf.replace(dtypes=None), spelling.get(name, name))
                self.tensors[self.key(name)] = tensor

    def named(self, names: list[str]) -> None:
        """Adds further tensors under their stored names."""
        for name in names:
            entry = self.entries.get(name)
            if entry is not None and name not in self.used:
                self.tensors.setdefault(self.key(name), _plain(name, entry))
