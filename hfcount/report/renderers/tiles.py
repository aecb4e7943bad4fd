"""Computes the tiles of the page's treemap: components, kinds of layers, modules."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from hfcount.report.figures import ComponentCount, LayerKind, TensorRow
from hfcount.report.model import Report
from hfcount.report.renderers.treemap import Box, squarify

FRAME = Box(0, 0, 160, 100)

_FINEST = 5_000  # a tile is at least 1/5,000 of its map: a smaller one would be a few pixels
_INDEX = re.compile(r"\.(?:\{([^}]*)\}|(\d+))\.")
_LAST = ("weight", "bias")


class ComponentPart(NamedTuple):
    """A component's parameters in layers of one kind, or outside of them; `title` is a short form of `where`.

    `module` is the map that they belong to, if it is one of several: `up_proj`.
    """

    component: str
    title: str
    where: str
    total: int
    active: int
    module: str = ""


class Treemap(NamedTuple):
    """A treemap of all parameters or of the active ones; `left` are parts that are too small to draw."""

    name: Literal["all", "active"]
    tiles: Sequence[tuple[ComponentPart, Box]]
    left: Sequence[ComponentPart]

    def size(self, part: ComponentPart) -> int:
        """The parameters that the area of a part represents."""
        return part.active if self.name == "active" else part.total


def active_of(component: ComponentCount) -> int:
    """Active parameters; all of them where that is not known."""
    return component.total if component.active is None else component.active


def parts(component: ComponentCount, kinds: Sequence[LayerKind]) -> Iterator[ComponentPart]:
    """The component's parameters by kind of layer, those outside of layers last."""
    total, active = component.total, active_of(component)
    names = Counter(kind.name for kind in kinds)
    for kind in kinds:
        for part in kind.components:
            if part.name == component.name:
                total, active = total - part.total, active - active_of(part)
                where = f"{kind.name}, layer{'s' if kind.count > 1 else ''} {kind.numbers}"
                title = kind.name if names[kind.name] == 1 else where
                yield ComponentPart(component.name, title, where, part.total, active_of(part))
    if total:
        where = "outside of the layers" if kinds else ""
        yield ComponentPart(component.name, where, where, total, active)


def deeper(report: Report, component: Sequence[ComponentPart]) -> Mapping[ComponentPart, Sequence[ComponentPart]]:
    """The maps that each part is made of, where the tensors tell that exactly."""
    numbers = {f"{kind.name}, layer{'s' if kind.count > 1 else ''} {kind.numbers}": kind.numbers
               for kind in report.layers or ()}  # fmt: skip
    by_part: dict[ComponentPart, Sequence[ComponentPart]] = {}
    stored = report.container == "gguf"  # rows of which all are parameters, and say the type
    for part in component:
        sums: dict[str, int] = defaultdict(int)
        for row in report.tensors or ():
            counted = (stored or row.kind == "parameter") and row.component == part.component
            if counted and _within(row, numbers.get(part.where)):
                sums[_module(row.name)] += row.elements
        # What a token uses of each is known if that is the same part of all of them.
        even = all(part.active * size % part.total == 0 for size in sums.values())
        if len(sums) > 1 and sum(sums.values()) == part.total and even:
            by_part[part] = [
                part._replace(total=size, active=part.active * size // part.total, module=name)
                for name, size in sums.items()
            ]
    return by_part


def _within(row: TensorRow, numbers: str | None) -> bool:
    """Whether a tensor is in the layers of these numbers; None for one outside of layers."""
    index = _INDEX.search(row.name)
    return (index[1] or index[2]) == numbers if index else numbers is None


def _module(name: str) -> str:
    """The last name of a module or of a parameter of its own: `up_proj`."""
    names = [segment for segment in name.split(".") if not segment.startswith("{") and not segment.isdecimal()]
    return names[-2] if names[-1] in _LAST and len(names) > 1 else names[-1]


def drawn(
    name: Literal["all", "active"],
    total: int,
    components: Sequence[Sequence[ComponentPart]],
    inner: Mapping[ComponentPart, Sequence[ComponentPart]],
) -> Treemap:
    """The map of so many parameters in all."""
    empty = Treemap(name, (), ())

    def size(*parts: ComponentPart) -> int:
        return sum(map(empty.size, parts))

    large_ones, left = [], list[ComponentPart]()
    for parts in components:
        large, small = _by_size(parts, size, total)
        left += small
        if large:
            large_ones.append(sorted(large, key=size, reverse=True))
    large_ones.sort(key=lambda parts: size(*parts), reverse=True)
    boxes = squarify([size(*parts) for parts in large_ones], FRAME)
    tiles: list[tuple[ComponentPart, Box]] = []
    for parts, around in zip(large_ones, boxes, strict=True):
        for part, box in zip(parts, squarify([size(part) for part in parts], around), strict=True):
            maps = sorted(inner.get(part, ()), key=size, reverse=True)
            within = [map_ for map_ in maps if size(map_) * _FINEST >= total] or [part]
            tiles += zip(within, squarify([size(map_) for map_ in within], box), strict=True)
            left += [map_ for map_ in maps if map_ not in within] if within != [part] else []
    return Treemap(name, tiles, left)


def _by_size(
    parts: Sequence[ComponentPart], size: Callable[..., int], total: int
) -> tuple[list[ComponentPart], list[ComponentPart]]:
    """The parts that are large enough to be drawn, small ones as one, and those that are not."""
    large = [part for part in parts if size(part) * _FINEST >= total]
    small = [part for part in parts if 0 < size(part) * _FINEST < total]
    merged = [_merged(small, "small parts" if large else "")] if len(small) > 1 else small
    return (large, merged) if merged and size(*merged) * _FINEST < total else (large + merged, [])


def _merged(parts: Sequence[ComponentPart], title: str) -> ComponentPart:
    total, active = sum(part.total for part in parts), sum(part.active for part in parts)
    return ComponentPart(parts[0].component, title, title and f"{len(parts):,} {title}", total, active)
