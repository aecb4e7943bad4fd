"""Packed weights: the names of a checkpoint as modules, matched with the blueprint, and how each module is stored."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from hfcount.formats.safetensors import Entry
from hfcount.plan import Blueprint
from hfcount.quantization.announcements import Announcement
from hfcount.quantization.layout import Layout, Unmodelled
from hfcount.quantization.scheme import DENSE, Choice, Module, Scheme
from hfcount.quantization.stored.cache import Heads, scales, usual
from hfcount.quantization.stored.expected import biases_apart, planned
from hfcount.quantization.stored.fused import fused
from hfcount.quantization.stored.mlx import forms, towers_left_out
from hfcount.quantization.stored.reading import PackedReading, keeps
from hfcount.quantization.stored.split import Segments
from hfcount.quantization.stored.stacks import apart, is_stack
from hfcount.quantization.stored.suffixes import Collected, Suffixes
from hfcount.quantization.stored.survey import FLOATING, Found, Survey, survey
from hfcount.text import printable
from hfcount.tree.leaves import Finder, Leaf

# AutoRound, which splits the stacks of experts of transformers 5, calls the matrices alike in every architecture.
_NUMBERED = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
EXPERTS = tuple(
    (re.compile(rf"(?<=\.experts\.)(\d+)\.{one}\."), rf"\g<1>.{other}.") for one, other in _NUMBERED.items()
)


class Names(Protocol):
    """How names match leaves: leaves with the numbers of their names, other names, and which of these are meant."""

    listed: list[tuple[Leaf, int]]
    unexpected: list[str]

    @property
    def complete(self) -> bool:
        """Whether the names are those of the leaves."""

    @property
    def spelling(self) -> dict[str, str]:
        """The names that differ from those of the leaves and are taken for them, by these."""


Match = TypeVar("Match", bound=Names)
Matching = Callable[[Collection[Leaf], Collection[str]], Match]
"""Matches names with leaves."""

Entries = Mapping[str, Entry]
"""Tensors in headers, by name."""


@dataclass
class Packed(Generic[Match]):
    """How a checkpoint of packed weights is stored.

    Args:
        announced: what announces the scheme; None if nothing does.
        scheme: the scheme of the settings.
        match: how the names match, with the leaves as they are stored.
        spelling: the checkpoint's names for those of the blueprint that it spells otherwise.
        dense: the names as if all modules were dense, with the stored name of each; None if they are the blueprint's.
        modules: how modules are stored.
        lacking, biases, cache: what packed modules lack, biases that the architecture lacks, and scales of a cache.
        uncached: scales of a cache that some modules have and others lack.
        fused: scales of all experts of a layer, beside weights of other names.
        left: towers that the scheme's tools leave out, if they are not there.
        reading: dtypes that make total_size come out exactly; None if none do.
    """

    announced: Announcement | None
    scheme: Scheme
    match: Match
    spelling: Mapping[str, str]
    dense: Mapping[str, str] | None
    modules: Sequence[Found]
    lacking: Sequence[Leaf]
    biases: Sequence[Leaf]
    cache: Sequence[Leaf]
    left: Sequence[Leaf] = ()
    uncached: Sequence[Leaf] = ()
    fused: Sequence[Leaf] = ()
    reading: PackedReading | None = None

    @property
    def name(self) -> str:
        """The scheme, for messages."""
        return self.announced.name if self.announced else self.scheme.name

    @property
    def packed(self) -> list[Found]:
        """The modules that are packed."""
        return [found for found in self.modules if found.layout]

    @cached_property
    def _names(self) -> frozenset[Segments]:
        return frozenset(leaf.segments[:-1] for leaf, _ in self.match.listed if leaf.dtypes)

    def keeps(self, leaf: Leaf, dtype: str) -> bool:
        """Whether tools of packed weights keep a dense tensor in a dtype whatever the rest is stored as."""
        return keeps(leaf, dtype, self._names)

    @property
    def open(self) -> bool:
        """Whether the names leave the shape of a packed tensor open."""
        return any(found.layout and _shapes(found.layout, found.leaf) for found in self.modules)

    @property
    def complete(self) -> bool:
        """Whether every name is known, and every module has what it needs."""
        return self.match.complete and not self.lacking and not self.uncached


def _shapes(layout: Layout, leaf: Leaf) -> bool:
    """Whether another reading of a layout has other shapes for a matrix."""
    sizes = tuple(map(int, leaf.shape[-2:]))
    return any(one.parts(*sizes) != layout.parts(*sizes) for one in layout.readings)


class Dense(Scheme):
    """No scheme: only a cache's scales are told apart."""

    name = "no scheme"
    layouts = ()

    def choose(self, module: Module) -> Choice:
        """Dense."""
        return DENSE


def look(
    blueprint: Blueprint,
    listed: Collection[str],
    entries: Entries | None,
    scheme: Scheme,
    announced: Announcement | None,
    matching: Matching[Match],
) -> Packed[Match]:
    """How each module of a checkpoint is stored.

    Raises:
        Unmodelled: the scheme's tools name modules of this architecture in their own way.
    """
    leaves, scheme, fused_scales = fused(blueprint.leaves, listed, scheme)
    if agreeing := _as_said(leaves, listed, entries, scheme, announced, matching):
        agreeing.fused = fused_scales
        return agreeing
    finder = Finder(leaves)
    last = {str(leaf.segments[-1]) for leaf in leaves}
    collected = Suffixes(scheme.layouts).collect(listed, lambda name: finder.find(name) is not None, last)
    own = _forms(leaves, collected.dense, scheme, entries)
    left = towers_left_out(own, collected.dense) if scheme.text_alone else []
    match = matching([leaf for leaf in own if leaf not in left] if left else own, collected.dense)
    if scheme.own_names and (other := next((name for name in match.unexpected if name in collected.beside), None)):
        raise Unmodelled(f"{scheme.name}, whose tools have names of their own, as {printable(other, 80)}")
    spelling = match.spelling
    found = survey(match.listed, scheme, collected, spelling, entries)
    heads = Heads.of(blueprint.spec, scheme.caches_heads)
    cache = scales(collected.cache, leaves, heads)
    if scheme.caches_stored and blueprint.spec.causal and not collected.cache:
        cache = cache._replace(lacking=usual([leaf for leaf, count in match.listed if count], heads))
    strange = _strange(found, collected, spelling)
    unexpected = [*_unexpected(match, collected, blueprint.asides), *strange, *cache.unknown]
    stored = [*found.listed, *((leaf, int(leaf.count)) for leaf in cache.found)]
    return Packed(
        announced,
        scheme,
        replace(match, listed=stored, unexpected=unexpected),
        spelling | _spelt(spelling, collected),
        collected.dense,
        found.modules,
        found.lacking,
        found.biases,
        cache.found,
        left,
        uncached=cache.lacking,
        fused=[leaf for leaf in fused_scales if leaf.first in listed] if fused_scales else (),
    )


def _as_said(
    leaves: Sequence[Leaf],
    listed: Collection[str],
    entries: Entries | None,
    scheme: Scheme,
    announced: Announcement | None,
    matching: Matching[Match],
) -> Packed[Match] | None:
    """The modules as the settings say, if the names are exactly those; else None, and each has to be looked at."""
    if scheme.renames or scheme.caches_stored:  # there are more names than the blueprint's, or others
        return None
    plan = list(planned(leaves, scheme))
    tensors = [leaf for one in plan for leaf in ([leaf for _, leaf in one.parts] or [one.leaf])]
    if any(leaf.presence == "required" and leaf.count and leaf.first not in listed for leaf in tensors):
        return None
    match = matching(tensors, listed)
    if not match.complete or match.spelling:
        return None
    counts = {id(leaf): count for leaf, count in match.listed}
    known = {dtype for one in scheme.layouts for dtype in one.parts(4096, 4096)[0].dtypes} - FLOATING
    modules: list[Found] = []
    biases: list[Leaf] = []
    kept: dict[tuple[Layout | None, str], set[bool]] = {}
    for leaf, choice, parts in plan:
        needed = {counts[id(one)] for part, one in parts if part.needed}
        if len(needed) > 1 or any(0 < counts[id(one)] < one.count for _, one in parts):
            return None
        if not parts and entries is not None and choice and _any_of(entries, leaf, known):
            return None  # packed, and without what belongs to it
        for part, one in parts:
            if part.usual and not part.needed:
                kept.setdefault((choice and choice.layout, part.suffix), set()).add(bool(counts[id(one)]))
        if (
            entries is not None
            and choice
            and choice.layout
            and choice.layout.readings
            and not all(_is_at(entries, one) for _, one in parts)
        ):
            return None
        biases += [one for part, one in parts if part.suffix == ".bias" and counts[id(one)]]
        if choice and counts[id(parts[0][1] if parts else leaf)]:
            modules.append(Found(leaf, choice, choice.layout))
    if any(len(some) > 1 for some in kept.values()):
        return None
    match.listed = biases_apart(match.listed, [found.leaf for found in modules])
    return Packed(announced, scheme, match, {}, None, modules, [], biases, [])


def _any_of(entries: Entries, leaf: Leaf, known: Collection[str]) -> bool:
    """Whether a header has any tensor of a leaf in one of these dtypes."""
    return any(entry.dtype in known for name in leaf.names() if (entry := entries.get(name)))


def _forms(leaves: Sequence[Leaf], names: Collection[str], scheme: Scheme, entries: Entries | None) -> Sequence[Leaf]:
    """The leaves as the scheme's tools store them: experts in one stack or one by one, and under their names."""
    if any(map(is_stack, leaves)) and any(".experts.0." in name for name in names):
        return apart(leaves)
    if not scheme.renames:
        return leaves
    found = forms(leaves, names, scheme.renames)
    if entries is not None:  # where convolutions are as in the original, they stay
        own = {leaf.name: leaf for leaf in leaves}
        found = [one if _is_at(entries, one) else own.get(one.name, one) for one in found]
    return found


def _is_at(entries: Entries, leaf: Leaf) -> bool:
    """Whether the first tensor of a leaf has its shape in the headers, or is not there."""
    entry = entries.get(leaf.first) if leaf.count else None
    return entry is None or entry.shape == tuple(map(int, leaf.shape))


def _spelt(spelling: Mapping[str, str], collected: Collected) -> dict[str, str]:
    """The checkpoint's names of what stands beside weights that it spells otherwise."""
    suffixes = collected.suffixes
    return {
        suffixes.stored(expected, suffix): suffixes.stored(found, suffix)
        for expected, found in spelling.items()
        if (bits := collected.beside.get(found))
        for suffix in suffixes.of(bits)
    }


def _unexpected(match: Names, collected: Collected, asides: tuple[str, ...]) -> list[str]:
    """The stored names that belong to no module of the blueprint."""
    weights = [*match.unexpected, *(name for name in collected.beside if name not in collected.dense)]
    found: list[str] = []
    for weight in weights:
        if asides and weight.startswith(asides):
            continue
        beside = collected.suffixes.of(collected.beside.get(weight, 0))
        names = [collected.suffixes.stored(weight, suffix) for suffix in sorted(beside)]
        own = collected.dense.get(weight)
        found += [own, *(name for name in names if name != own)] if own else names
    return found


def _strange(found: Survey, collected: Collected, spelling: Mapping[str, str]) -> list[str]:
    """The stored names beside modules that no layout of theirs has."""
    return [
        collected.suffixes.stored(spelling.get(name, name), suffix)
        for module in found.modules
        if module.strange
        for name in module.leaf.names()
        for suffix in sorted(module.strange)
    ]
