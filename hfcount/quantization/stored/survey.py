"""How the modules of a checkpoint are stored, by their names, beside how the settings say that they are."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from hfcount.formats.safetensors import Entry
from hfcount.quantization.layout import Layout
from hfcount.quantization.scheme import DENSE, Choice, Scheme
from hfcount.quantization.stored.expected import (
    Around,
    Group,
    biases_apart,
    groups,
    module_of,
    packed,
    part_of,
    with_bias,
)
from hfcount.quantization.stored.split import Segments, regroup
from hfcount.quantization.stored.stacks import transposed
from hfcount.quantization.stored.suffixes import OWN, Collected
from hfcount.tree.indices import Indices
from hfcount.tree.leaves import Leaf

FLOATING = {"F64", "F32", "F16", "BF16"}
"""What dense weights are stored as."""

_MOST = 200_000  # modules of one leaf that are told apart


class Found(NamedTuple):
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
    modules: list[Found] = field(default_factory=list)
    biases: list[Leaf] = field(default_factory=list)

    @property
    def packed(self) -> list[Found]:
        """Those that are packed."""
        return [found for found in self.modules if found.layout]

    @property
    def lacking(self) -> list[Leaf]:
        """Tensors that packed modules need and that are not there."""
        return [leaf for found in self.modules for leaf in found.lacking]


class _Seen(NamedTuple):
    """How one module is stored: what stands beside it (-1: it is not there), and whether its dtype is a packed one.

    `shapes` are those of what stands beside it, where they tell layouts apart.
    """

    bits: int
    choice: Choice
    cast: bool
    shapes: tuple[tuple[str, tuple[int, ...] | None], ...] = ()


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
        entries: tensors in headers, by name; None if no headers were read.
    """

    def dtype_of_(name: str) -> str | None:
        entry = entries.get(name)
        return entry.dtype if entry else None

    def shape_of_(name: str) -> tuple[int, ...] | None:
        entry = entries.get(name)
        return entry.shape if entry else None

    dtype_of, shape_of = (dtype_of_, shape_of_) if entries is not None else (None, None)
    result, leaves = Survey(), [leaf for leaf, _ in listed]
    turned, biased, around = transposed(leaves), with_bias(leaves), Around.of(leaves)
    layouts = tuple(scheme.layouts)
    seen: list[tuple[Leaf, Segments, _Seen, frozenset[str]]] = []
    for leaf, count in listed:
        if not count or count > _MOST or module_of(leaf) is None or leaf.presence == "obsolete":
            result.listed.append((leaf, count))
            continue
        chosen = groups(leaf, scheme, around) or [Group(leaf, DENSE)]
        for part, one in _parts(leaf, count, chosen, scheme, collected, spelling, dtype_of, shape_of):
            if one.bits < 0:
                result.listed.append((part, 0))
            else:
                seen.append((part, leaf.segments[:-1], one, collected.suffixes.of(one.bits)))
    somewhere: dict[Layout | None, set[str]] = {}
    for _, _, one, there in seen:
        somewhere.setdefault(one.choice.layout, set()).update(there)
    for part, own, one, there in seen:
        layout = _layout(there, one, layouts, somewhere[one.choice.layout])
        if layout and one.shapes:
            shapes = dict(one.shapes)
            layout = next((reading for reading in (layout, *layout.readings) if _fits(reading, part, shapes)), layout)
        if layout is None:
            result.modules.append(Found(part, one.choice, None, (), there))
            result.listed.append((part, int(part.count)))
            continue
        tensors = [(one.suffix, tensor) for one, tensor in packed(part, layout, own in turned, own in biased)]
        (_, weight), *beside = tensors
        count = int(part.count)
        result.listed += [(weight, count), *((tensor, count) for end, tensor in beside if end in there)]
        others = somewhere[one.choice.layout]
        lost = _needed(layout) | (_usual(layout) & others)
        lacking = tuple(tensor for end, tensor in beside if end not in there and end in lost)
        result.biases += [tensor for end, tensor in beside if end == ".bias" and end in there]
        strange = there - {end for end, _ in tensors}
        result.modules.append(Found(part, one.choice, layout, lacking, strange))
    result.listed = biases_apart(result.listed, [found.leaf for found in result.modules])
    return result


def _layout(there: frozenset[str], seen: _Seen, layouts: Sequence[Layout], somewhere: Collection[str]) -> Layout | None:
    """The layout that what stands beside a module is of, or is left of; None for dense.

    Args:
        somewhere: what stands beside any module that should be stored like this one. What a module lacks and others
            have is lost; what none of them has belongs to another layout.
    """
    own = seen.choice.layout
    beside = there - {".bias"}
    known = [own, *layouts] if own else list(layouts)
    if not beside:
        return known[0] if seen.cast else None
    for one in known:
        if _needed(one) <= there <= _known(one) or (
            one == own and there <= _known(one) and _needed(one) <= {*somewhere}
        ):
            return one
    packed = [one for one in known if _first(one) in (*OWN, *there)]
    return max(packed, key=lambda one: (len(beside & _known(one)), -len(beside - _known(one))), default=None)


def _several(scheme: Scheme) -> bool:
    """Whether shapes tell apart how modules are stored."""
    return any(layout.readings for layout in scheme.layouts)


def _fits(layout: Layout, part: Leaf, shapes: Mapping[str, tuple[int, ...] | None]) -> bool:
    """Whether the tensors of a module have the shapes of a layout."""
    return all(
        shapes.get(one.suffix) is None or one.fits(shapes[one.suffix] or ())
        for one in layout.parts(*map(int, part.shape[-2:]))
    )


@cache
def _needed(layout: Layout) -> frozenset[str]:
    return layout.suffixes()[0] - OWN


@cache
def _usual(layout: Layout) -> frozenset[str]:
    """What a tool stores beside all modules or beside none."""
    return frozenset(part.suffix for part in layout.parts(4096, 4096) if part.usual and not part.needed)


@cache
def _known(layout: Layout) -> frozenset[str]:
    return layout.suffixes()[1] | ({layout.bias.suffix} if layout.bias else set())


@cache
def _first(layout: Layout) -> str:
    return layout.parts(4096, 4096)[0].suffix


@cache
def _dtypes(layout: Layout) -> tuple[str, ...]:
    return layout.parts(4096, 4096)[0].dtypes


def _parts(
    leaf: Leaf,
    count: int,
    chosen: Sequence[Group],
    scheme: Scheme,
    collected: Collected,
    spelling: Mapping[str, str],
    dtype_of: Callable[[str], str | None] | None,
    shape_of: Callable[[str], tuple[int, ...] | None] | None,
) -> Iterator[tuple[Leaf, _Seen]]:
    """The modules of a leaf, by how they are stored and how they should be."""
    names, beside, dense = leaf.names(), collected.beside, collected.dense
    stored = [spelling.get(name, name) for name in names] if spelling else names
    whole = count == leaf.count
    bits = [beside.get(name, 0) if whole or name in dense else -1 for name in stored]
    alike = len(set(bits)) == 1
    casts = dtype_of is not None and 0 in bits
    ends: set[str] = set()
    if shape_of and _several(scheme):
        ends = set().union(*(collected.suffixes.of(bit) for bit in {*bits} if bit > 0))
    if alike and not casts and not ends:
        for part, choice in chosen:
            silent = dtype_of is None and bits[0] == 0 and choice.layout is not None and not _needed(choice.layout)
            yield part, _Seen(bits[0], choice, silent)  # of what stands alone, names do not tell whether it is packed
        return
    by_name = {name: choice for part, choice in chosen for name in part.names()} if len(chosen) > 1 else {}
    own_dtypes = {dtype for one in scheme.layouts for dtype in _dtypes(one)} - FLOATING
    answers: list[int] = []
    known: dict[tuple[object, ...], tuple[int, _Seen]] = {}
    for name, own, bit in zip(names, stored, bits, strict=True):
        choice = by_name.get(name, chosen[0].choice)
        cast = bit == 0 and dtype_of is not None and dtype_of(own) in own_dtypes
        shapes = tuple((end, shape_of(collected.suffixes.stored(own, end))) for end in sorted(ends)) if shape_of else ()
        key = bit, id(choice), cast, shapes
        answers.append(known.setdefault(key, (len(known), _Seen(bit, choice, cast, shapes)))[0])
    seen = [one for _, one in known.values()]
    for numbers, answer in regroup(leaf.indices, answers):
        given = iter(numbers)
        segments: Segments = tuple(next(given) if isinstance(one, Indices) else one for one in leaf.segments)
        yield part_of(leaf, segments), seen[answer]
