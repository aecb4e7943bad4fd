"""Matches tensors by what they hold: layers and experts in another order, and matrices that are joined on one side.

Only tensors that differ under their own names are looked at. Their first and last bytes tell which ones may be the
same; whether they are is then compared value by value.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from hfcount.checkpoints.data.locations import TensorLocation
from hfcount.checkpoints.inspection import Options
from hfcount.diffing.byte_ranges import runs
from hfcount.diffing.comparison import Comparison
from hfcount.diffing.matching import Matches
from hfcount.diffing.pieces import Kind, Relation
from hfcount.diffing.tensors import Logical
from hfcount.diffing.values import Gap, Gaps, all_values, local
from hfcount.errors import FetchError
from hfcount.fetcher import files
from hfcount.spec.tree.leaves import joined, split
from hfcount.text import printable

_ENDS = 4096  # bytes at either end of a tensor, by which it is known again
_MOST = 20_000  # tensors that are looked at
_FEW = 4  # layers that a line names

_Place = tuple[tuple[str, ...], tuple[int, ...]]
"""A list of modules: the texts of its name up to the number, and the numbers of the lists around it."""


class Reordered(NamedTuple):
    """Matches and gaps in which layers or experts stand beside those that hold the same, and what that says of B."""

    matched: Matches
    gaps: Gaps
    relations: tuple[Relation, ...]


class _Contents:
    """The bytes of the tensors of both sides, by which they are known again."""

    def __init__(self, c: Comparison) -> None:
        self._sides = local(c.a), local(c.b)

    def ends(self, tensor: Logical, side: int) -> bytes | None:
        """A digest of a tensor's shape, dtype, first and last bytes; None if nothing tells where it is."""
        folder, where = self._sides[side]
        ranges = runs(tensor.bytes, where) if tensor.bytes else None
        if not ranges or any(any(run.head) for run in ranges):
            return None
        digest = blake2b(repr((tensor.shape, tensor.dtype)).encode())
        first, last = ranges[0], ranges[-1]
        digest.update(_read(folder / first.file, first.begin, min(_ENDS, first.end - first.begin)))
        begin = max(last.begin, last.end - _ENDS)
        digest.update(_read(folder / last.file, begin, last.end - begin))
        return digest.digest()

    def rows(self, tensor: Logical, side: int, numbers: Iterable[int]) -> list[bytes]:
        """The first bytes of some rows of a matrix."""
        folder, where = self._sides[side]
        place: TensorLocation = where[tensor.stored]
        row = place.size // place.entry.shape[0]
        return [_read(folder / place.file, place.begin + number * row, min(row, _ENDS)) for number in numbers]


def _read(path: Path, begin: int, size: int) -> bytes:
    with files.opened(path, printable(path.name)) as file:
        if file is None:
            raise FetchError("UnreadableFile", f"{printable(path.name)} was deleted while hfcount read it.")
        file.seek(begin)
        return file.read(size)


def joined_alike(c: Comparison, options: Options) -> Comparison:
    """The comparison with matrices that one side joins cut into those of the other, where they hold the same."""
    matched = c.matched
    if matched is None or not (matched.only_a and matched.only_b) or len(matched.only_a) + len(matched.only_b) > _MOST:
        return c
    try:
        contents = _Contents(c)
        pairs = dict(_joined(matched.only_a, matched.only_b, contents, 0))
        pairs |= {key: (b, a) for key, (a, b) in _joined(matched.only_b, matched.only_a, contents, 1)}
    except (FetchError, KeyError):
        return c
    if not pairs:
        return c
    gaps = all_values(c.a, c.b, Matches(pairs, {}, {}), options)
    if len(gaps.by_key) < len(pairs) or not all(gap.same for gap in gaps.by_key.values()):
        return c
    taken = tuple({tensor.stored for tensor in side} for side in zip(*pairs.values(), strict=True))
    rest = [
        {key: tensor for key, tensor in only.items() if tensor.stored not in stored}
        for only, stored in zip((matched.only_a, matched.only_b), taken, strict=True)
    ]
    return replace(c, matched=Matches({**matched.both, **pairs}, rest[0], rest[1], matched.root))


def _joined(
    whole: Mapping[str, Logical], parts: Mapping[str, Logical], contents: _Contents, side: int
) -> Iterator[tuple[str, tuple[Logical, Logical]]]:
    """Pairs of a part of a joined matrix and the matrix that it is, by the key of that.

    Args:
        whole: tensors of one side that may be joined; `parts` are those of the other.
        side: the number of the first of both sides.
    """
    by_module: dict[str, list[tuple[str, Logical]]] = {}
    for key, tensor in parts.items():
        by_module.setdefault(_module(key), []).append((key, tensor))
    for key, tensor in whole.items():
        left = [
            (name, part)
            for name, part in by_module.get(_module(key), ())
            if (part.dtype, len(part.shape), part.shape[1:]) == (tensor.dtype, len(tensor.shape), tensor.shape[1:])
        ]
        if len(left) > 1 and tensor.shape and tensor.bytes and len(tensor.bytes) == 1:
            yield from _cut(tensor, left, contents, side)


def _module(key: str) -> str:
    """The module that holds a layer, with what the tensor of the layer is called: `mlp weight`."""
    layer, _, kind = key.rpartition(".")
    return f"{layer.rpartition('.')[0]} {kind}"


def _cut(
    tensor: Logical, left: list[tuple[str, Logical]], contents: _Contents, side: int
) -> Iterator[tuple[str, tuple[Logical, Logical]]]:
    """The parts of a joined matrix in the order in which their first rows stand in it."""
    rows, start = tensor.shape[0], 0
    (whole,) = tensor.bytes or ()
    row = (whole.end - whole.begin) // rows
    pairs: list[tuple[str, tuple[Logical, Logical]]] = []
    while start < rows:
        (head,) = contents.rows(tensor, side, [start])
        part = next((pair for pair in left if contents.rows(pair[1], 1 - side, [0]) == [head]), None)
        if part is None or start + part[1].shape[0] > rows:
            return
        left.remove(part)
        key, other = part
        size = other.shape[0]
        begin = whole.begin + start * row
        bytes_ = (whole._replace(begin=begin, end=begin + size * row),)
        pairs.append((key, (tensor._replace(shape=other.shape, bytes=bytes_), other)))
        start += size
    yield from pairs


def reordered(c: Comparison, matched: Matches, gaps: Gaps, options: Options) -> Reordered | None:
    """Layers and experts that hold what others of A hold; None if there are none."""
    differing = [key for key, gap in gaps.by_key.items() if not gap.same]
    if not differing or gaps.sampled or len(matched.both) > _MOST:
        return None
    try:
        contents = _Contents(c)
        orders = {stack: order for stack in _stacks(differing) if (order := _order(stack, matched, contents))}
    except (FetchError, KeyError):
        return None
    outer = {stack: order for stack, order in orders.items() if not any(_is_inside(stack, other) for other in orders)}
    if not outer:
        return None
    both, only_a = dict(matched.both), dict(matched.only_a)
    changed = [key for stack, order in outer.items() for key in _moved(stack, order, both, only_a, matched)]
    new = Matches(both, only_a, matched.only_b, matched.root)
    again = all_values(c.a, c.b, replace(new, both={key: both[key] for key in changed}, only_a={}, only_b={}), options)
    if again.reason or not all(gap.same for gap in again.by_key.values()):
        return None
    kept = _of_both(gaps, again, both, changed)
    kept.by_key.update(dict.fromkeys(_routers(outer, matched, kept.by_key, contents), Gap()))
    return Reordered(new, kept, tuple(_said(outer)))


def _of_both(gaps: Gaps, again: Gaps, both: Collection[str], changed: Collection[str]) -> Gaps:
    """The gaps of what stayed in its place, and of what was compared again in another."""
    by_key = {key: gap for key, gap in gaps.by_key.items() if key in both and key not in changed} | again.by_key
    introduced = {key: many for key, many in gaps.introduced.items() if key not in changed} | again.introduced
    return replace(gaps, by_key=by_key, introduced=introduced)


def _stacks(keys: Iterable[str]) -> dict[_Place, None]:
    """The lists of modules that some tensors are in, the outer ones first."""
    stacks: dict[_Place, None] = {}
    for key in keys:
        text, numbers = split(key)
        for place in range(len(numbers)):
            stacks[text[: place + 1], numbers[:place]] = None
    return dict.fromkeys(sorted(stacks, key=lambda stack: len(stack[0])))


def _is_inside(stack: _Place, other: _Place) -> bool:
    (text, outer), (around, numbers) = stack, other
    return len(text) > len(around) and text[: len(around)] == around and outer[: len(numbers)] == numbers


def _members(stack: _Place, tensors: Iterable[str]) -> dict[int, dict[_Place, str]]:
    """The keys of the tensors of each module of a list, by its number and by what follows that."""
    text, outer = stack
    place = len(outer)
    members: dict[int, dict[_Place, str]] = {}
    for key in tensors:
        texts, numbers = split(key)
        if len(numbers) > place and texts[: place + 1] == text and numbers[:place] == outer:
            members.setdefault(numbers[place], {})[texts[place + 1 :], numbers[place + 1 :]] = key
    return members


def _order(stack: _Place, matched: Matches, contents: _Contents) -> dict[int, int]:
    """The number in A of each module of B that holds what one of another number holds in A.

    Empty if not all do, or several hold the same: those are no order, but copies.
    """
    sides = [
        {key: pair[side] for key, pair in matched.both.items()} | dict(only)
        for side, only in enumerate((matched.only_a, matched.only_b))
    ]
    signed = [
        {
            number: frozenset((rest, contents.ends(tensors[key], side)) for rest, key in keys.items())
            for number, keys in _members(stack, tensors).items()
        }
        for side, tensors in enumerate(sides)
    ]
    numbers = {signature: number for number, signature in signed[0].items()}
    if len(numbers) < len(signed[0]) or any(None in {end for _, end in signature} for signature in numbers):
        return {}
    order = {number: numbers.get(signature) for number, signature in signed[1].items()}
    found = {number: other for number, other in order.items() if other is not None}
    if not len({*found.values()}) == len(found) == len(order):
        return {}
    return found if any(number != other for number, other in found.items()) else {}


def _moved(
    stack: _Place,
    order: Mapping[int, int],
    both: dict[str, tuple[Logical, Logical]],
    only_a: dict[str, Logical],
    matched: Matches,
) -> list[str]:
    """Puts B's modules beside A's that hold the same, in `both`; returns the keys of these."""
    in_a, in_b = _members(stack, [*matched.both, *matched.only_a]), _members(stack, matched.both)
    changed = []
    for keys in in_a.values():
        for key in keys.values():
            only_a[key] = matched.both[key][0] if key in matched.both else matched.only_a[key]
            both.pop(key, None)
    for number, other in order.items():
        for rest, key in in_b.get(number, {}).items():
            mine = in_a[other][rest]
            both[mine] = only_a.pop(mine), matched.both[key][1]
            changed.append(mine)
    return changed


def _routers(
    orders: Mapping[_Place, Mapping[int, int]], matched: Matches, gaps: Mapping[str, Gap], contents: _Contents
) -> Iterator[str]:
    """The keys of routers whose rows stand in the order of the experts."""
    for stack, order in orders.items():
        layer = joined(*stack).rpartition(".")[0]
        numbers = sorted(order)
        for key, gap in gaps.items():
            if gap.same or not _is_experts(stack) or not key.startswith(f"{layer}.") or key not in matched.both:
                continue
            a, b = matched.both[key]
            if a.component == "router" and a.shape == b.shape and a.shape[:1] == (len(order),):
                rows = contents.rows(a, 0, [order[number] for number in numbers])
                if contents.rows(b, 1, numbers) == rows:
                    yield key


def _is_experts(stack: _Place) -> bool:
    return "expert" in stack[0][-1]


def _said(orders: Mapping[_Place, Mapping[int, int]]) -> Iterator[Relation]:
    """What the orders of lists say of B, alike ones in one line."""
    lists: dict[tuple[str, tuple[tuple[int, int], ...]], list[_Place]] = {}
    for stack, order in orders.items():
        what = "experts" if _is_experts(stack) else "layers"
        lists.setdefault((what, tuple(sorted(order.items()))), []).append(stack)
    for (what, pairs), stacks in lists.items():
        name = printable(joined(*stacks[0]))
        where = name if len(stacks) == 1 else f"{name} and {len(stacks) - 1:,} more"
        moved = [f"{number} is A's {other}" for number, other in pairs if number != other]
        more = f" and {len(moved) - _FEW} more" if len(moved) > _FEW else ""
        others = [other for _, other in pairs]
        kind: Kind = "order" if others != sorted(others) else "layers" if what == "layers" else "experts"
        how = "in another order" if kind == "order" else "without those between"
        yield Relation(kind=kind, text=f"holds A's {what} {how} ({where}: {', '.join(moved[:_FEW])}{more})")
