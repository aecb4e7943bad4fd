"""Matches the names of a packed checkpoint with the modules of the blueprint."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, Self, TypeVar

from hfcount.blueprints.blueprint import Blueprint
from hfcount.formats.dtypes import code
from hfcount.formats.safetensors import Entry
from hfcount.mapper.quantization_config import Announcement
from hfcount.quantization.layout import Layout, Unmodelled
from hfcount.quantization.packing.dtypes_from_total import PackedReading, exact, keeps
from hfcount.quantization.packing.expected import Surroundings, groups
from hfcount.quantization.packing.fused import fused
from hfcount.quantization.packing.kv_cache_scales import CacheScales, Heads, scales, usual
from hfcount.quantization.packing.mlx import forms, towers_left_out
from hfcount.quantization.packing.split import Segments
from hfcount.quantization.packing.stacks import STACKED, apart, is_stack
from hfcount.quantization.packing.suffixes import Collected, Suffixes
from hfcount.quantization.packing.survey import StoredModules, Survey, survey
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme
from hfcount.quantization.schemes import described
from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.spec.tree.spellings import Swap
from hfcount.text import printable


class Names(Protocol):
    """How names match leaves: leaves with the numbers of their names, other names and layouts, and which are meant."""

    listed: list[tuple[Leaf, int]]
    unexpected: list[str]
    swapped: list[Swap]

    @property
    def complete(self) -> bool:
        """Whether the names are those of the leaves."""

    @property
    def spelling(self) -> dict[str, str]:
        """The names that differ from those of the leaves and are taken for them, by these."""

    def replace(self, **changes: Any) -> Self:
        """A copy with these fields changed."""


Match = TypeVar("Match", bound=Names)
Matching = Callable[[Collection[Leaf], Collection[str], Scheme], Match]
"""Matches names with leaves, as the readers of a scheme do."""

Entries = Mapping[str, Entry]
"""Tensors in headers, by name."""


@dataclass(frozen=True)
class Packed(Generic[Match]):
    """How a checkpoint of packed weights is stored.

    Args:
        announced: the quantisation config; None if there is none.
        scheme: the scheme of the settings.
        match: how the names match, with the leaves as they are stored.
        spelling: the checkpoint's names for those of the blueprint that it spells otherwise.
        dense: the names as if all modules were dense, with the stored name of each.
        modules: how modules are stored.
        lacking, biases, cache: what packed modules lack, biases that the architecture lacks, and scales of a cache.
        left: towers that the scheme's tools leave out, if they are not there.
        uncached: scales of a cache that some modules have and others lack.
        fused: scales of all experts of a layer, beside weights of other names.
        reading: dtypes that make total_size come out exactly; None if none do.
    """

    announced: Announcement | None
    scheme: Scheme
    match: Match
    spelling: Mapping[str, str]
    dense: Mapping[str, str]
    modules: Sequence[StoredModules]
    lacking: Sequence[Leaf]
    biases: Sequence[Leaf]
    cache: Sequence[Leaf]
    left: Sequence[Leaf]
    uncached: Sequence[Leaf]
    fused: Sequence[Leaf]
    reading: PackedReading | None = None

    @property
    def name(self) -> str:
        """The scheme, for messages."""
        return self.announced.name if self.announced else self.scheme.name

    @property
    def packed(self) -> list[StoredModules]:
        """The modules that are packed."""
        return [module for module in self.modules if module.layout]

    @cached_property
    def _names(self) -> frozenset[Segments]:
        return frozenset(leaf.segments[:-1] for leaf, _ in self.match.listed if leaf.dtypes)

    def keeps(self, leaf: Leaf, dtype: str) -> bool:
        """Whether tools of packed weights keep a dense tensor in a dtype whatever the rest is stored as."""
        return keeps(leaf, dtype, self._names)

    @property
    def open(self) -> bool:
        """Whether the names leave the shape of a packed tensor open."""
        return any(module.layout and _shapes(module.layout, module.leaf) for module in self.modules)

    @property
    def complete(self) -> bool:
        """Whether every name is known, and every module has what it needs."""
        return self.match.complete and not self.lacking and not self.uncached


def _shapes(layout: Layout, leaf: Leaf) -> bool:
    """Whether another reading of a layout has other shapes for a matrix."""
    sizes = tuple(map(int, leaf.shape[-2:]))
    return any(other.parts(*sizes) != layout.parts(*sizes) for other in layout.readings)


class Dense(Scheme):
    """No scheme: only a cache's scales are told apart."""

    name = "no scheme"
    layouts = ()

    def choose(self, module: Module) -> Choice:
        """Dense."""
        return DENSE


def match_packed(
    blueprint: Blueprint,
    names: Collection[str],
    entries: Entries | None,
    announced: Sequence[Announcement],
    matching: Matching[Match],
    total_size: int | None = None,
) -> Packed[Match]:
    """How each module of a checkpoint is stored.

    Args:
        names: those of the checkpoint.
        entries: tensors in headers; None if none were read.
        announced: the quantisation configs; empty if only names show scales of a cache.
        total_size: bytes that the index claims.

    Raises:
        Unmodelled: the scheme is not described, or its tools name modules of this architecture in their own way.
    """
    scheme, first = described(announced, blueprint.spec.dtype) if announced else (Dense(), None)
    if scheme.by_path and scheme.matchers:
        scheme.path = blueprint.path_in_memory
    leaves, scheme, beside = fused(blueprint.leaves, names, scheme)
    finder, last = Finder(leaves), {str(leaf.segments[-1]) for leaf in leaves}
    collected = Suffixes(scheme.layouts).collect(names, lambda name: finder.find(name) is not None, last)
    native = _forms(leaves, collected.dense, scheme, entries)
    left = towers_left_out(native, collected.dense) if scheme.text_alone else []
    match = matching([leaf for leaf in native if leaf not in left] if left else native, collected.dense, scheme)
    if scheme.own_names and (other := next((name for name in match.unexpected if name in collected.beside), None)):
        raise Unmodelled(f"{scheme.name}, whose tools have names of their own, as {printable(other, 80)}")
    spelling = match.spelling
    surveyed = survey(match.listed, scheme, collected, spelling, entries)
    cache = _cache(collected, leaves, match, blueprint, scheme)
    unexpected = [*_unexpected(match, collected, blueprint.unmodeled), *_strange(surveyed, collected, spelling)]
    stored = [*surveyed.listed, *((leaf, int(leaf.count)) for leaf in cache.stored)]
    packed = Packed(
        first,
        scheme,
        match.replace(listed=stored, unexpected=[*unexpected, *cache.unknown]),
        spelling | _spelt(spelling, collected),
        collected.dense,
        [*surveyed.modules, *_stacked(match, scheme, collected)],
        surveyed.lacking,
        surveyed.biases,
        cache.stored,
        left,
        cache.lacking,
        [leaf for leaf in beside if leaf.first in names],
    )
    if not total_size or not packed.complete or blueprint.unmodeled:
        return packed
    return replace(packed, reading=exact(total_size, stored, code(blueprint.spec.dtype)))


def _stacked(match: Names, scheme: Scheme, collected: Collected) -> list[StoredModules]:
    """Experts that the scheme packs one by one, and that are stored in dense stacks."""
    result: list[StoredModules] = []
    for swap in match.swapped:
        stacked = all(len(leaf.shape) == STACKED for leaf in swap.stored)
        if not stacked or any(leaf.first in collected.beside for leaf in swap.stored):
            continue
        around = Surroundings.of(swap.described)
        chosen = (group for leaf in swap.described for group in groups(leaf, scheme, around))
        result += [StoredModules(group.leaf, group.choice, None) for group in chosen if group.choice.layout]
    return result


def _cache(
    collected: Collected, leaves: Sequence[Leaf], match: Names, blueprint: Blueprint, scheme: Scheme
) -> CacheScales:
    """The scales of attention's cache that are there, and those that should be."""
    heads = Heads.of(blueprint.spec, scheme.caches_heads)
    stored = scales(collected.cache, leaves, heads)
    if not scheme.caches_stored or not blueprint.spec.causal or collected.cache:
        return stored
    return stored._replace(lacking=usual([leaf for leaf, count in match.listed if count], heads))


def _forms(leaves: Sequence[Leaf], names: Collection[str], scheme: Scheme, entries: Entries | None) -> Sequence[Leaf]:
    """The leaves as the scheme's tools store them: experts in one stack or one by one, and under their names."""
    if any(map(is_stack, leaves)) and any(".experts.0." in name for name in names):
        return apart(leaves)
    if not scheme.renames:
        return leaves
    native = forms(leaves, names, scheme.renames)
    if entries is not None:  # where convolutions are as in the original, they stay
        original = {leaf.name: leaf for leaf in leaves}
        native = [leaf if _is_at(entries, leaf) else original.get(leaf.name, leaf) for leaf in native]
    return native


def _is_at(entries: Entries, leaf: Leaf) -> bool:
    """Whether the first tensor of a leaf has its shape in the headers, or is not there."""
    entry = entries.get(leaf.first) if leaf.count else None
    return entry is None or entry.shape == tuple(map(int, leaf.shape))


def _spelt(spelling: Mapping[str, str], collected: Collected) -> dict[str, str]:
    """The checkpoint's names of what stands beside weights that it spells otherwise."""
    suffixes = collected.suffixes
    return {
        suffixes.stored(expected, suffix): suffixes.stored(stored, suffix)
        for expected, stored in spelling.items()
        if (bits := collected.beside.get(stored))
        for suffix in suffixes.of(bits)
    }


def _unexpected(match: Names, collected: Collected, asides: tuple[str, ...]) -> list[str]:
    """The stored names that belong to no module of the blueprint."""
    weights = [*match.unexpected, *(name for name in collected.beside if name not in collected.dense)]
    result: list[str] = []
    for weight in weights:
        if asides and weight.startswith(asides):
            continue
        beside = collected.suffixes.of(collected.beside.get(weight, 0))
        names = [collected.suffixes.stored(weight, suffix) for suffix in sorted(beside)]
        stored = collected.dense.get(weight)
        result += [stored, *(name for name in names if name != stored)] if stored else names
    return result


def _strange(surveyed: Survey, collected: Collected, spelling: Mapping[str, str]) -> list[str]:
    """The stored names beside modules that no layout of theirs has."""
    return [
        collected.suffixes.stored(spelling.get(name, name), suffix)
        for module in surveyed.modules
        if module.strange
        for name in module.leaf.names()
        for suffix in sorted(module.strange)
    ]
