"""Maps a blueprint to GGUF names: the required and optional tensors, by the recorded table."""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.gguf import bert
from hfcount.checkpoints.gguf.table import Conversions, Results, Shape, changed, table, undisputed
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf


@dataclass(frozen=True, slots=True)
class TensorSum:
    """Tensors of which only the sum is known, in elements: one is split or several are joined unevenly."""

    names: tuple[str, ...]
    elements: int


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """The expected tensors of a GGUF file.

    Args:
        shapes: of the tensors that it must hold, None where the table does not tell.
        optional: those that it may hold: tied heads and layers that predict further tokens.
        groups: whose sums are known.
        unmapped: names of the checkpoint of which the table knows nothing for this architecture.
    """

    shapes: Mapping[str, Shape | None]
    optional: Mapping[str, Shape | None]
    groups: tuple[TensorSum, ...]
    unmapped: tuple[str, ...]


def expected(
    blueprint: Blueprint, architecture: str, layers: int, stored: Container[str], positions: int | None = None
) -> ExpectedFile:
    """The tensors of a blueprint by their names in a file of that architecture.

    Args:
        architecture: as general.architecture says it, or `clip:TYPE` for a projector.
        layers: how many the model has, without those that predict further tokens.
        stored: the names in the file, which choose where several conversions are known.
        positions: how many of the first rows of positions the converter drops.
    """
    shapes: dict[str, Shape | None] = {}
    optional: dict[str, Shape | None] = {}
    sums: dict[tuple[str, ...], int] = {}
    unmapped = []
    for leaf in blueprint.leaves:
        if not leaf.count or not (leaf.stored or leaf.tied_to or leaf.part == "prediction"):
            continue
        target = optional if leaf.presence == "optional" or leaf.tied_to or leaf.part == "prediction" else shapes
        converted = list(conversions(leaf, architecture, layers, stored))
        if not converted and target is shapes:
            unmapped.append(leaf.name)
        for results, count, _ in converted:
            names = []
            for name, change in results:
                shape = changed(change, tuple(map(int, leaf.shape)), count)
                target[name] = shape
                if change == "other":
                    names.append(name)
            if names and target is shapes:
                key = tuple(sorted(names))
                sums[key] = sums.get(key, 0) + count * prod(map(int, leaf.shape)) - _apart(results, leaf, count)
    bert.cut_positions(shapes, positions)
    optional = {name: shape for name, shape in optional.items() if name not in shapes}
    return ExpectedFile(shapes, optional, tuple(TensorSum(*item) for item in sums.items()), tuple(unmapped))


def _apart(results: Results, leaf: Leaf, count: int) -> int:
    """Elements of a tensor that go to results whose shape is known."""
    shapes = (changed(change, tuple(map(int, leaf.shape)), count) for _, change in results)
    return sum(prod(shape) for shape in shapes if shape is not None)


class Conversion(NamedTuple):
    """The conversion of a tensor, or of a stack of tensors.

    Args:
        results: names, each with the change of shape.
        origins: of how many tensors they are made.
        numbers: those in its name, all but the last of a stack.
    """

    results: Results
    origins: int
    numbers: tuple[int, ...] = ()


def conversions(leaf: Leaf, architecture: str, layers: int, stored: Container[str]) -> Iterator[Conversion]:
    """The conversions of a leaf's tensors or stacks; arguments as for `expected`."""
    rows = table().names.get(architecture, {})
    if architecture == bert.ARCHITECTURE:
        leaf, rows = bert.without_prefix(leaf), {**bert.rows_of_bert(), **rows}
        if bert.is_dropped(leaf):
            yield Conversion((), 0)
            return
    if recorded := list(_listed(leaf, rows, layers, stored)):
        yield from recorded
    elif _dropped(leaf, rows):
        yield Conversion((), 0)
    elif not architecture.startswith("clip:"):
        yield from _listed(leaf, undisputed(), layers, stored)


def _listed(leaf: Leaf, rows: Mapping[str, Conversions], layers: int, stored: Container[str]) -> Iterator[Conversion]:
    for depth in sorted({len(leaf.indices), min(1, len(leaf.indices)), 0}, reverse=True):
        pattern, kept, fixed = _pattern(leaf, depth)
        is_recorded = False
        for numbers in product(*fixed):
            choices = rows.get(pattern(numbers))
            if choices is not None:
                is_recorded = True
                yield from _expanded(choices, kept, numbers, layers, stored)
        if is_recorded:
            return


def _pattern(leaf: Leaf, depth: int) -> tuple[Callable[[tuple[int, ...]], str], list[Indices], list[Indices]]:
    """How a leaf is looked up when its first numbers are left open, those numbers, and the others."""
    kept, fixed = leaf.indices[:depth], leaf.indices[depth:]

    def text(numbers: tuple[int, ...]) -> str:
        rest, count, parts = iter(numbers), 0, []
        for part in leaf.segments:
            if isinstance(part, str):
                parts.append(part)
            else:
                parts.append("#" if count < depth else str(next(rest)))
                count += 1
        return ".".join(parts)

    return text, kept, fixed


def _dropped(leaf: Leaf, rows: Mapping[str, Conversions]) -> bool:
    """Whether the converter leaves out everything that begins with the same segments."""
    parts = leaf.first.split(".")
    return any(".".join([*parts[:count], "*"]) in rows for count in range(1, len(parts)))


def _expanded(
    choices: Conversions, kept: list[Indices], fixed: tuple[int, ...], layers: int, stored: Container[str]
) -> Iterator[Conversion]:
    stacked = len(kept) > 1 and all("{1}" not in name for results in choices for name, _ in results)
    stacked = stacked and any(change not in ("same",) for results in choices for _, change in results)
    over = kept[:1] if stacked else kept
    count = int(kept[1].count) if stacked else 1
    for numbers in product(*over):
        every = [
            tuple((_named(name, (*numbers, *fixed), layers), change) for name, change in results) for results in choices
        ]
        held = [results for results in every if all(name in stored for name, _ in results)]
        yield Conversion((held or every)[0], count, (*numbers, *fixed))


def _named(name: str, numbers: tuple[int, ...], layers: int) -> str:
    if "{" not in name:
        return name
    name = name.replace("{n0}", str(layers + (numbers[0] if numbers else 0))).replace("{n}", str(layers))
    for place, number in enumerate(numbers):
        name = name.replace(f"{{{place}}}", str(number))
    return name
