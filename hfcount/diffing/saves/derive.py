"""Derives what becomes of each tensor of a checkpoint that a version of transformers loads and saves."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.diffing.saves.dtypes import LoadedDtype
from hfcount.diffing.saves.fates import Fate, FoldedFates, Group, folded, folded_as_written, row_of
from hfcount.diffing.saves.names import WrittenNames
from hfcount.formats.safetensors import Entry
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.folded_names import placed
from hfcount.verifier.header_view import HeaderView
from hfcount.verifier.loaders.facts import Facts
from hfcount.verifier.match import Match


class Source(NamedTuple):
    """A checkpoint, and the version that loads and saves it.

    Args:
        class_name: the class that loads it.
        blueprint: of its config.
        match: how its names match the blueprint's.
        view: the headers of its weight files.
        facts: how the version reads checkpoints of the type.
        older: whether it is version 4.
        dtype: what the model is built in.
        untied: tied names that are stored with values of their own.
        tied: whether version 4 ties the head to the embedding; None if it is as the newest.
    """

    class_name: str
    blueprint: Blueprint
    match: Match
    view: HeaderView
    facts: Facts
    older: bool
    dtype: LoadedDtype
    untied: Collection[str] = ()
    tied: bool | None = None


class Derived(NamedTuple):
    """What becomes of the tensors of a checkpoint: rows by what becomes of them, and rows of what is written."""

    rows: list[FoldedFates]
    written: list[FoldedFates]


def derived(source: Source) -> Derived:
    """What becomes of every tensor that is stored, or is written."""
    maker = _Fates(source)
    fates = list(maker.fates())
    absent = [row_of(fate, fate.written, tensors) for fate, tensors in maker.whole_leaves]
    return Derived([*folded(fates), *absent], [*folded_as_written(fates), *absent])


class _Fates:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._names = WrittenNames(source.blueprint, source.view.entries, source.older)
        self._taken = source.match.spelling
        self._stood_in = {leaf.tied_to for leaf in source.match.stand_ins}
        self.whole_leaves: list[tuple[Fate, int]] = []
        """Fates of leaves of which nothing is stored, with the number of their tensors."""

    def fates(self) -> Iterator[Fate]:
        """What becomes of each stored tensor, and of those that are missing beside others of their leaf."""
        match = self._source.match
        wrapped = match.wrapped
        around = {stored for stored, _ in wrapped.pairs} if wrapped else set[str]()
        for leaf, count in match.listed:
            yield from self._of_leaf(leaf, count, around)
        if self._source.older:
            for swap in match.swapped:
                for leaf in swap.described:
                    yield from self._of_module(leaf, {})
        for leaf in match.heads:
            yield from self._lost([leaf.name], f"a head that {self._source.class_name} does not have")
        yield from self._lost(match.unexpected, f"no tensor of {self._source.class_name} has this name")
        if wrapped:
            why = f"no tensor of {self._source.class_name} has this name ({wrapped.title})"
            yield from self._lost([*around, *wrapped.added], why)

    def _of_leaf(self, leaf: Leaf, count: int, around: Collection[str]) -> Iterator[Fate]:
        source = self._source
        stored = self._stored(leaf, around) if count else {}
        if leaf.presence == "obsolete":
            yield from self._lost(stored.values(), "a constant that the class computes of its config")
        elif leaf.part == "prediction":
            yield from self._lost(stored.values(), f"a prediction layer, which {source.class_name} does not have")
        elif source.older and any(leaf is other for swap in source.match.swapped for other in swap.stored):
            yield from self._lost(stored.values(), "a layout that this version does not read")
        elif source.facts.is_omitted(leaf.first, source.class_name):
            yield from self._lost(stored.values(), f"{source.class_name} of this version does not have it")
        elif self._is_tied(leaf):
            yield from self._tied(leaf, stored.values())
        else:
            yield from self._of_module(leaf, stored)

    def _stored(self, leaf: Leaf, around: Collection[str]) -> dict[str, str]:
        """The names under which tensors of a leaf are stored, by the leaf's own."""
        entries = self._source.view.entries
        pairs = ((name, self._taken.get(name, name)) for name in self._source.match.names(leaf))
        return {name: stored for name, stored in pairs if stored in entries and stored not in around}

    def _is_tied(self, leaf: Leaf) -> bool:
        """Whether a leaf is a second name of a tensor, as this version ties it."""
        source = self._source
        if source.tied is not None and is_head(source.blueprint, leaf):
            return source.tied
        return leaf.tied_to is not None and leaf.name not in source.untied

    def _tied(self, leaf: Leaf, stored: Collection[str]) -> Iterator[Fate]:
        """A second name of a tensor: it is written under the first, whichever of the two is stored."""
        source, target = self._source, leaf.tied_to or "the embedding"
        alone = any(leaf is other for other in source.match.stand_ins)
        for name in stored:
            if alone and not source.older:
                yield self._written(name, target, leaf, "tied to it, and written under its name")
            elif alone:
                yield from self._lost([name], f"overwritten by {target}, which is not stored")
                yield self._filled(target, leaf)
            elif leaf.tied_to is None or leaf.name in source.untied:
                yield from self._lost([name], f"overwritten by {target}, to which this version ties it")
            else:
                entry = source.view.entries[name]
                why = f"tied to {target}, under whose name it is written once"
                yield Fate("tied", name, "", entry.shape, entry.dtype, "", why)

    def _of_module(self, leaf: Leaf, stored: dict[str, str]) -> Iterator[Fate]:
        """A tensor that the class has; version 4 may look for it under another name than that which is stored."""
        source, names = self._source, self._names
        for name, own in stored.items():
            wanted = source.facts.wanted(name, source.class_name)
            if source.facts.wanted(own, source.class_name) is None:
                yield self._written(own, wanted or names.of_stored(own, name), leaf, "")
            else:
                yield from self._lost([own], f"the class looks for {_numberless(wanted or name)}")
                yield self._filled(wanted or name, leaf)
        if leaf.count == len(stored) or not leaf.stored or leaf.name in self._stood_in:
            return
        absent = names.of_absent(leaf)
        if not stored:
            self.whole_leaves.append((self._filled(absent.name, absent), int(leaf.count)))
            return
        for name in leaf.names_beyond(stored):
            yield self._filled(name, leaf)

    def _written(self, stored: str, written: str, leaf: Leaf, why: str) -> Fate:
        entry = self._source.view.entries[stored]
        dtype = self._dtype(leaf, written, entry)
        group: Group = "renamed" if stored != written else "cast" if dtype != entry.dtype else "kept"
        return Fate(group, stored, written, entry.shape, entry.dtype, dtype, why)

    def _filled(self, name: str, leaf: Leaf) -> Fate:
        return Fate("filled", "", name, tuple(map(int, leaf.shape)), "", self._dtype(leaf, name, None), "not stored")

    def _lost(self, names: Collection[str], why: str) -> Iterator[Fate]:
        for name in names:
            entry = self._source.view.entries[name]
            yield Fate("lost", name, "", entry.shape, entry.dtype, "", why)

    def _dtype(self, leaf: Leaf, name: str, entry: Entry | None) -> str:
        """What a tensor is written in."""
        loaded = self._source.dtype.code
        half = loaded == "F16"
        if (leaf.whole or half or loaded == "BF16") and self._source.facts.keeps_float32(name, half):
            return "F32"
        return (entry.dtype if entry else "I64") if leaf.whole else loaded


def is_head(blueprint: Blueprint, leaf: Leaf) -> bool:
    """Whether a leaf is a matrix over the vocabulary that may be tied to the embedding."""
    shapes = {other.shape for other in blueprint.leaves if other.component == "embedding"}
    return leaf.component == "lm_head" and len(leaf.shape) == 2 and leaf.shape in shapes


def _numberless(name: str) -> str:
    """A name with {} for its numbers."""
    text, _ = placed(name)
    return ".{}".join(text)[1:]
