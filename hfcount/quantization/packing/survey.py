"""Finds the layout of each stored module by the names of its tensors."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from hfcount.formats.safetensors import Entry
from hfcount.quantization.layout import Layout, PackedTensor
from hfcount.quantization.packing.expected import (
    ModuleGroup,
    Surroundings,
    biases_apart,
    groups,
    module_of,
    packed,
    part_of,
)
from hfcount.quantization.packing.split import Segments, regroup
from hfcount.quantization.packing.suffixes import OWN, Collected
from hfcount.quantization.scheme import DENSE, Choice, Scheme
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf

FLOATING = {"F64", "F32", "F16", "BF16"}
"""Dtypes of dense weights."""

_MOST = 200_000  # modules of one leaf that are told apart


class StoredModules(NamedTuple):
    """Modules of one leaf that are stored alike.

    Args:
        leaf: their dense weight.
        choice: how the settings say that they are stored.
        layout: how they are stored; None for dense.
        lacking: tensors that the layout needs and that are not there.
        strange: suffixes that are there and that the layout does not have.
    """

    leaf: Leaf
    choice: Choice
    layout: Layout | None
    lacking: tuple[Leaf, ...] = ()
    strange: frozenset[str] = frozenset()


@dataclass(slots=True)
class Survey:
    """All modules of a checkpoint.

    Args:
        listed: the leaves as they are stored, with the number of tensors of each.
        modules: how modules are stored.
        biases: biases that the architecture lacks.
    """

    listed: list[tuple[Leaf, int]] = field(default_factory=list)
    modules: list[StoredModules] = field(default_factory=list)
    biases: list[Leaf] = field(default_factory=list)

    @property
    def lacking(self) -> list[Leaf]:
        """Tensors that packed modules need and that are not there."""
        return [leaf for module in self.modules for leaf in module.lacking]


class _Storage(NamedTuple):
    """How modules are stored.

    Args:
        bits: of what stands beside them; -1: they are not there.
        choice: how the settings say that they are stored.
        cast: whether their dtype is a packed one.
        shapes: those of what stands beside them, where they tell layouts apart.
    """

    bits: int
    choice: Choice
    cast: bool = False
    shapes: tuple[tuple[str, tuple[int, ...] | None], ...] = ()


@dataclass(frozen=True, slots=True)
class _Names:
    """The stored tensors, by name.

    Args:
        collected: the names by the modules that they belong to.
        spelling: the checkpoint's names for those of the blueprint that it spells otherwise.
        entries: tensors in headers; None if none were read.
        layouts: those that modules may have.
    """

    collected: Collected
    spelling: Mapping[str, str]
    entries: Mapping[str, Entry] | None
    layouts: Sequence[Layout]

    def modules(self, leaf: Leaf, count: int, chosen: Sequence[ModuleGroup]) -> list[tuple[Leaf, _Storage]]:
        """The modules of a leaf, by how they are stored and how they should be.

        Args:
            count: how many of them have their dense name.
        """
        names = leaf.names()
        stored = [self.spelling.get(name, name) for name in names] if self.spelling else names
        beside, dense, all_dense = self.collected.beside, self.collected.dense, count == leaf.count
        bits = [beside.get(name, 0) if all_dense or name in dense else -1 for name in stored]
        kinds = {*bits}
        ends = self._told_apart(kinds)
        if len(kinds) == 1 and not ends and (self.entries is None or bits[0]):
            return [(part, _Storage(bits[0], choice)) for part, choice in chosen]
        by_name = {name: choice for part, choice in chosen for name in part.names()} if len(chosen) > 1 else {}
        choices = [by_name.get(name, chosen[0].choice) for name in names]
        return self._apart(leaf, stored, bits, choices, ends)

    def _apart(
        self, leaf: Leaf, stored: Sequence[str], bits: Sequence[int], choices: Sequence[Choice], ends: Sequence[str]
    ) -> list[tuple[Leaf, _Storage]]:
        """The modules of a leaf, each of which has to be looked at.

        Args:
            stored, bits, choices: of each module the name, what stands beside it, and how it should be stored.
            ends: suffixes whose shapes tell layouts apart.
        """
        casts = {dtype for layout in self.layouts for dtype in _first(layout)[1]} - FLOATING
        answers: list[int] = []
        known: dict[tuple[object, ...], tuple[int, _Storage]] = {}
        for name, bit, choice in zip(stored, bits, choices, strict=True):
            cast, shapes = bit == 0 and self._dtype(name) in casts, self._shapes(name, ends)
            key = bit, id(choice), cast, shapes
            answers.append(known.setdefault(key, (len(known), _Storage(bit, choice, cast, shapes)))[0])
        sights = [sight for _, sight in known.values()]
        result = []
        for numbers, answer in regroup(leaf.indices, answers):
            given = iter(numbers)
            segments: Segments = tuple(next(given) if isinstance(part, Indices) else part for part in leaf.segments)
            result.append((part_of(leaf, segments), sights[answer]))
        return result

    def _told_apart(self, bits: Collection[int]) -> list[str]:
        """The suffixes beside some modules, if shapes tell apart how these are stored."""
        if not self.entries or not any(layout.readings for layout in self.layouts):
            return []
        beside = frozenset[str]().union(*(self.collected.suffixes.of(some) for some in bits if some > 0))
        first = {_first(layout)[0] for layout in self.layouts if layout.readings} & OWN
        return sorted(beside | first) if beside else []

    def _dtype(self, name: str) -> str | None:
        entry = self.entries.get(name) if self.entries else None
        return entry.dtype if entry else None

    def _shapes(self, name: str, ends: Sequence[str]) -> tuple[tuple[str, tuple[int, ...] | None], ...]:
        if not self.entries or not ends:
            return ()
        stored = ((end, name if end in OWN else self.collected.suffixes.stored(name, end)) for end in ends)
        entries = ((end, self.entries.get(other)) for end, other in stored)
        return tuple((end, entry.shape if entry else None) for end, entry in entries)


def survey(
    listed: Sequence[tuple[Leaf, int]],
    scheme: Scheme,
    collected: Collected,
    spelling: Mapping[str, str],
    entries: Mapping[str, Entry] | None,
) -> Survey:
    """How each module is stored.

    Args:
        listed: the blueprint's leaves, as the scheme's tool sees modules, with the number of dense names of each.
        spelling: the checkpoint's names for those of the blueprint that it spells otherwise.
        entries: tensors in headers, by name; None if none were read.
    """
    result, around = Survey(), Surroundings.of([leaf for leaf, _ in listed])
    names = _Names(collected, spelling, entries, tuple(scheme.layouts))
    surveyed: list[tuple[Leaf, Segments, _Storage]] = []
    beside: dict[Layout | None, set[str]] = {}
    for leaf, count in listed:
        if not count or count > _MOST or module_of(leaf) is None or leaf.presence == "obsolete":
            result.listed.append((leaf, count))
            continue
        for part, sight in names.modules(leaf, count, groups(leaf, scheme, around) or [ModuleGroup(leaf, DENSE)]):
            if sight.bits < 0:
                result.listed.append((part, 0))
            else:
                surveyed.append((part, leaf.segments[:-1], sight))
                beside.setdefault(sight.choice.layout, set()).update(collected.suffixes.of(sight.bits))
    for part, block, sight in surveyed:
        there, somewhere = collected.suffixes.of(sight.bits), beside[sight.choice.layout]
        layout = _layout(part, sight, there, names.layouts, somewhere)
        tensors = packed(part, layout, block, around) if layout else []
        _add(result, StoredModules(part, sight.choice, layout), tensors, there, somewhere)
    result.listed = biases_apart(result.listed, [module.leaf for module in result.modules])
    return result


def _add(
    result: Survey,
    module: StoredModules,
    tensors: Sequence[tuple[PackedTensor, Leaf]],
    there: frozenset[str],
    somewhere: Collection[str],
) -> None:
    """Adds modules to the result.

    Args:
        tensors: those of their layout, the packed weight first; none if they are dense.
        there: the suffixes of what stands beside them.
        somewhere: what stands beside any module that should be stored like these.
    """
    count = int(module.leaf.count)
    if module.layout is None:
        result.listed.append((module.leaf, count))
        result.modules.append(module._replace(strange=there))
        return
    (_, weight), *beside = tensors
    stored = [(part, tensor) for part, tensor in beside if part.suffix in there]
    result.listed += [(weight, count), *((tensor, count) for _, tensor in stored)]
    result.biases += [tensor for part, tensor in stored if part.suffix == ".bias"]
    lost = _needed(module.layout) | (_usual(module.layout) & {*somewhere})
    lacking = tuple(tensor for part, tensor in beside if part.suffix in lost - there)
    result.modules.append(module._replace(lacking=lacking, strange=there - {part.suffix for part, _ in tensors}))


def _layout(
    part: Leaf, sight: _Storage, there: frozenset[str], layouts: Sequence[Layout], somewhere: Collection[str]
) -> Layout | None:
    """The layout that what stands beside modules is of, or is left of; None for dense.

    Args:
        somewhere: what stands beside any module that should be stored like these. What these lack and others have is
            lost; what none of them has belongs to another layout.
    """
    chosen = sight.choice.layout
    known = [chosen, *layouts] if chosen else list(layouts)
    if there <= {".bias"}:  # nothing tells but the dtype, and of what needs nothing beside it not even that
        return known[0] if sight.cast or (chosen and not _needed(chosen)) else None
    layout = next(
        (other for other in known if _is(other, there) or (other == chosen and _is(other, there, somewhere))), None
    )
    layout = layout or _left_of(known, there)
    shapes = dict(sight.shapes)
    if layout is None or not shapes:
        return layout
    return next((reading for reading in (layout, *layout.readings) if _fits(reading, part, shapes)), layout)


def _is(layout: Layout, there: frozenset[str], somewhere: Collection[str] = ()) -> bool:
    """Whether these suffixes are those of a layout; what it needs may stand beside another module."""
    return there <= _known(layout) and _needed(layout) <= {*there, *somewhere}


def _left_of(layouts: Sequence[Layout], there: frozenset[str]) -> Layout | None:
    """The layout that most of what stands beside modules is of."""
    beside = there - {".bias"}
    fitting = [layout for layout in layouts if _first(layout)[0] in (*OWN, *there)]
    return max(fitting, key=lambda layout: (len(beside & _known(layout)), -len(beside - _known(layout))), default=None)


def _fits(layout: Layout, part: Leaf, shapes: Mapping[str, tuple[int, ...] | None]) -> bool:
    """Whether the tensors of a module have the shapes of a layout."""
    lead = tuple(map(int, part.shape[:-2]))
    return all(
        shapes.get(tensor.suffix) is None or _of_each(tensor, lead).fits(shapes[tensor.suffix] or ())
        for tensor in layout.parts(*map(int, part.shape[-2:]))
    )


def _of_each(tensor: PackedTensor, lead: tuple[int, ...]) -> PackedTensor:
    """A tensor of a stack of matrices."""
    return tensor._replace(shape=(*lead, *tensor.shape)) if lead and tensor.shape else tensor


@cache
def _needed(layout: Layout) -> frozenset[str]:
    return layout.suffixes()[0] - OWN


@cache
def _usual(layout: Layout) -> frozenset[str]:
    """Suffixes that a tool stores for all modules or for none."""
    return frozenset(part.suffix for part in layout.parts(4096, 4096) if part.usual and not part.needed)


@cache
def _known(layout: Layout) -> frozenset[str]:
    return layout.suffixes()[1] | ({layout.bias.suffix} if layout.bias else set())


@cache
def _first(layout: Layout) -> tuple[str, tuple[str, ...]]:
    """The suffix and the dtypes of the packed weight."""
    weight = layout.parts(4096, 4096)[0]
    return weight.suffix, weight.dtypes
