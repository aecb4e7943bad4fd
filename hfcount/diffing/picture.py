"""Draws differences by layer (columns) and component (rows)."""

from collections.abc import Sequence
from math import log10
from typing import NamedTuple

from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import Cell, Values
from hfcount.diffing.text import share
from hfcount.report.renderers.colours import COLOURS
from hfcount.text import plural

WIDTH, LABEL, ROW = 960, 130, 20
"""Width of a drawing and of its row names, and height of a row, in pixels."""

STATES = {
    "only_a": "only in A",
    "only_b": "only in B",
    "shapes": "another shape",
    "dtypes": "another dtype",
    "values": "other values",
}
"""States of a cell by importance, with their words; `same` if nothing differs."""


class Box(NamedTuple):
    """A rectangle of a drawing with its style and tooltip."""

    x: float
    y: float
    width: float
    style: str
    text: str


class Drawing(NamedTuple):
    """One list of layers.

    Args:
        rows: component names with their y positions.
        ticks: layer numbers with their x positions.
    """

    title: str
    height: int
    rows: Sequence[tuple[str, float]]
    ticks: Sequence[tuple[int, float]]
    boxes: Sequence[Box]


def states(values: Values | None) -> dict[str, str]:
    """States of cells with their words, which do not claim equality of values that were not compared."""
    if values is None:
        return {**STATES, "same": "the same shapes and dtypes"}
    return {**STATES, "same": "the same, as far as compared" if values.uncompared or values.sampled else "the same"}


def drawings(diff: Diff) -> list[Drawing]:
    """A drawing for each list of layers, and one for tensors outside of layers."""
    stacks: dict[str, list[Cell]] = {}
    for cell in diff.cells:
        stacks.setdefault(cell.stack, []).append(cell)
    same = states(diff.values)["same"]
    names = sorted(stacks, key=lambda name: (-len(stacks[name]), name))
    return [_drawing(name, stacks[name], same) for name in names]


def _drawing(name: str, cells: Sequence[Cell], same: str) -> Drawing:
    numbers = sorted({cell.number for cell in cells if cell.number is not None})
    order = list(COLOURS)
    rows = sorted({cell.component for cell in cells}, key=lambda name: order.index(name) if name in order else 99)
    width = min((WIDTH - LABEL) / max(len(numbers), 1), 60)
    columns = {number: place for place, number in enumerate(numbers)}
    boxes = [
        Box(
            LABEL + columns.get(cell.number if cell.number is not None else -1, 0) * width,
            rows.index(cell.component) * ROW,
            max(width - 1, 0.5),
            style(cell),
            _tooltip(cell, same),
        )
        for cell in cells
    ]
    step = max(1, -(-len(numbers) * 30 // (WIDTH - LABEL)))
    ticks = [(number, LABEL + columns[number] * width + width / 2) for number in numbers[::step]]
    heights = [(row, place * ROW + ROW * 0.7) for place, row in enumerate(rows)]
    return Drawing(name or "outside of layers", len(rows) * ROW + (18 if ticks else 2), heights, ticks, boxes)


def state(cell: Cell) -> str:
    """The most important state of a cell."""
    return next((name for name in STATES if getattr(cell, name)), "same")


def style(cell: Cell) -> str:
    """The style of a cell; darker for larger differences of values."""
    shown = state(cell)
    if shown != "values" or not cell.relative:
        return shown
    strength = min(4, max(0, int(log10(cell.relative) + 4)))  # from a thousandth and less to 1 and more
    return f"values v{strength}"


def _tooltip(cell: Cell, same: str) -> str:
    where = f"{cell.stack}.{cell.number}" if cell.number is not None else "outside of layers"
    parts = [f"{getattr(cell, name):,} {text}" for name, text in STATES.items() if getattr(cell, name)]
    differing = "; ".join(parts) or same
    relative = f" by {share(cell.relative)}" if cell.relative else ""
    return f"{where} {cell.component}, {plural(cell.tensors, 'tensor')}: {differing}{relative}"
