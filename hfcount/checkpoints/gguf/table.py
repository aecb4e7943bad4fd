"""Loads gguf.tsv: the names, layers and shapes that llama.cpp's converter writes for each architecture.

gguf.tsv has three sections, its columns separated by tabs:

- names: a tensor's name in the checkpoint (# is a number, a final * anything), what it becomes, the architectures. The
  name * alone stands for what the converter makes by itself. Each result is a name and, after =, the change of its
  shape; {0} is the first number, {n} the number of layers, {n0} the sum of both.
- layers: an architecture, its model_types, the names (those of a layer without its number) that every model has in all
  its layers, the kinds of layers by the names that only some layers have (separated by |), the names that llama.cpp
  knows, and marks: `cut` where the embedding's rows are cut to the tokenizer's tokens, `uncounted` where block_count
  counts something else.
- shapes: a name, the arithmetic over metadata keys that gives each extent (? if none does), the architectures.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import prod
from types import MappingProxyType

Shape = tuple[int, ...]
Results = tuple[tuple[str, str], ...]
"""The names that one tensor is converted to, each with the change of shape."""

Conversions = tuple[Results, ...]
"""The ways in which a tensor is converted."""

_BLOCK = re.compile(r"^((?:[a-z]+\.)?)blk\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class Layers:
    """The tensors in the layers of one architecture."""

    model_types: frozenset[str]
    always: frozenset[str]
    kinds: frozenset[frozenset[str]]
    known: frozenset[str]
    marks: frozenset[str]

    @property
    def varying(self) -> frozenset[str]:
        """The names that only some layers have."""
        return frozenset(name for kind in self.kinds for name in kind)


@dataclass(frozen=True, slots=True)
class Table:
    """The recorded table; names by architecture and pattern, each with its alternatives."""

    names: Mapping[str, Mapping[str, Conversions]]
    layers: Mapping[str, Layers]
    shapes: Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]]


@cache
def table() -> Table:
    """The table, read once."""
    names: dict[str, dict[str, Conversions]] = {}
    layers: dict[str, Layers] = {}
    shapes: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = {}
    section = ""
    for line in files(__package__).joinpath("gguf.tsv").read_text("utf-8").splitlines():
        if line.startswith(("#", "[")):
            section = line
            continue
        first, second, *rest = line.split("\t")
        if section == "[layers]":
            types, always, known, marks = (frozenset(column.split()) for column in (second, rest[0], *rest[2:]))
            kinds = frozenset(frozenset(kind.split(",")) - {""} for kind in rest[1].split("|") if rest[1])
            layers[first] = Layers(types, always, kinds, known, marks)
            continue
        for architecture in rest[0].split():
            if section == "[names]":
                results = tuple(_result(word) for word in second.split() if word != "-")
                rows = names.setdefault(architecture, {})
                rows[first] = (*rows.get(first, ()), results)
            else:
                extents = shapes.setdefault(architecture, {})
                extents[first] = (*extents.get(first, ()), tuple(second.split()))
    return Table(MappingProxyType(names), MappingProxyType(layers), MappingProxyType(shapes))


@cache
def undisputed() -> Mapping[str, Conversions]:
    """The names that all recorded architectures convert alike, projectors aside: how others will."""
    by_pattern: dict[str, set[Conversions]] = {}
    for architecture, rows in table().names.items():
        if not architecture.startswith("clip:"):
            for pattern, conversions in rows.items():
                by_pattern.setdefault(pattern, set()).add(conversions)
    alike = {pattern: ways.pop() for pattern, ways in by_pattern.items() if len(ways) == 1}
    return {pattern: conversions for pattern, conversions in alike.items() if any(conversions)}


def _result(word: str) -> tuple[str, str]:
    name, _, changed = word.partition("=")
    return name, changed


def slots(name: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The patterns that a name may be listed under, the most general first, each with the numbers left out."""
    parts = name.split(".")
    places = [place for place, part in enumerate(parts) if part.isdecimal()]
    for count in sorted({len(places), min(1, len(places)), 0}, reverse=True):
        kept = list(parts)
        for place in places[:count]:
            kept[place] = "#"
        yield ".".join(kept), tuple(int(parts[place]) for place in places[:count])


@lru_cache(maxsize=4096)
def folded(name: str) -> tuple[str, int | None]:
    """A GGUF name without its layer, and the layer: `blk.3.attn_q.weight` is (`blk.attn_q.weight`, 3)."""
    match = _BLOCK.match(name)
    return (f"{match[1]}blk.{name[match.end() :]}", int(match[2])) if match else (name, None)


def plain(shape: Shape) -> Shape:
    """A shape without leading extents of 1, which a rewritten file drops."""
    start = 0
    while start < len(shape) - 1 and shape[start] == 1:
        start += 1
    return shape[start:]


def change(shape: Shape, result: Shape, origins: int) -> str:
    """Which change of shape gives a result of so many alike tensors; `other` where none of these does."""
    for name in _CHANGES:
        if changed(name, shape, origins) == result and (origins == 1 or "stack" in name):
            return name
    for parts in range(2, 9):
        for axis, extent in enumerate(shape):
            name = f"part{axis}of{parts}"
            if extent % parts == 0 and origins == 1:
                for turned in ("", "-turned"):
                    if changed(name + turned, shape, origins) == result:
                        return name + turned
    return "other"


_CHANGES = ("same", "squeezed", "column", "turned", "stacked", "stacked-turned")


def changed(name: str, shape: Shape, origins: int = 1) -> Shape | None:
    """The shape that a change gives; None where only the number of elements is known, or nothing.

    >>> changed("part0of2", (6, 4)), changed("stacked", (3, 4), 8), changed("turned", (3, 4))
    ((3, 4), (8, 3, 4), (4, 3))
    """
    match name.split("-"):
        case ["same"]:
            return shape
        case ["squeezed"]:
            return tuple(extent for extent in shape if extent != 1)
        case ["column"]:
            return (*shape, 1)
        case ["turned"]:
            return _turned(shape)
        case ["stacked"]:
            return (origins, *shape)
        case ["stacked", "turned"]:
            return (origins, *_turned(shape))
        case [part, *turned] if part.startswith("part"):
            axis, parts = map(int, part[4:].split("of"))
            if axis >= len(shape):
                return None
            split_shape = (*shape[:axis], shape[axis] // parts, *shape[axis + 1 :])
            return _turned(split_shape) if turned else split_shape
        case _:
            return None


def _turned(shape: Shape) -> Shape:
    return (*shape[:-2], *reversed(shape[-2:]))


def extent(text: str, sizes: Mapping[str, int]) -> int | None:
    """The value of arithmetic over sizes; None where one of them is unknown.

    >>> extent("2*inner+rank", {"inner": 8, "rank": 3}), extent("a*b", {"a": 2})
    (19, None)
    """
    total = 0
    for term in text.split("+"):
        product, _, divisor = term.partition("/")
        factors = [int(factor) if factor.isdecimal() else sizes.get(factor) for factor in product.split("*")]
        if None in factors:
            return None
        total += prod(factor for factor in factors if factor is not None) // int(divisor or 1)
    return total
