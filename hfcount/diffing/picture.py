"""What differs layer by layer, as a drawing: a column for each layer, a row for each component."""

from collections.abc import Sequence
from math import log10
from typing import NamedTuple

from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import Cell, Values
from hfcount.diffing.text import share
from hfcount.report.renderers.colours import COLOURS
from hfcount.text import plural

WIDTH, LABEL, ROW = 960, 130, 20
"""Of a drawing, of the names of its rows, and the height of a row, in pixels."""

STATES = {
    "only_a": "only in A",
    "only_b": "only in B",
    "shapes": "another shape",
    "dtypes": "another dtype",
    "values": "other values",
}
"""What a cell may show, the most important first, and the words for it; `same` if nothing differs."""


class Box(NamedTuple):
    """A rectangle of a drawing, how it is filled, and what it says when pointed at."""

    x: float
    y: float
    width: float
    style: str
    text: str


class Drawing(NamedTuple):
    """One list of layers.

    Args:
        rows: the names of components, with the height at which each is written.
        ticks: numbers of layers, with their places.
    """

    title: str
    height: int
    rows: Sequence[tuple[str, float]]
    ticks: Sequence[tuple[int, float]]
    boxes: Sequence[Box]


def states(values: Values | None) -> dict[str, str]:
    """What cells may show, with the words for it; values that were not compared are not said to be the same."""
    if values is None:
        return {**STATES, "same": "the same shapes and dtypes"}
    return {**STATES, "same": "the same, as far as compared" if values.uncompared or values.sampled else "the same"}


def drawings(diff: Diff) -> list[Drawing]:
    """A drawing for each list of layers, and one for what is outside of them."""
    stacks: dict[str, list[Cell]] = {}
    for cell in diff.cells:
        stacks.setdefault(cell.stack, []).append(cell)
    same = states(diff.values)["same"]
    names = sorted(stacks, key=lambda name: (-len(stacks[name]), name))
    return [_drawn(name, stacks[name], same) for name in names]


def _drawn(name: str, cells: Sequence[Cell], same: str) -> Drawing:
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
            _said(cell, same),
        )
        for cell in cells
    ]
    step = max(1, -(-len(numbers) * 30 // (WIDTH - LABEL)))
    ticks = [(number, LABEL + columns[number] * width + width / 2) for number in numbers[::step]]
    heights = [(row, place * ROW + ROW * 0.7) for place, row in enumerate(rows)]
    return Drawing(name or "outside of layers", len(rows) * ROW + (18 if ticks else 2), heights, ticks, boxes)


def state(cell: Cell) -> str:
    """What a cell shows: the most important of what differs in it."""
    return next((name for name in STATES if getattr(cell, name)), "same")


def style(cell: Cell) -> str:
    """The style of a cell; other values are the darker the more they differ."""
    shown = state(cell)
    if shown != "values" or not cell.relative:
        return shown
    strength = min(4, max(0, int(log10(cell.relative) + 4)))  # from a thousandth and less to 1 and more
    return f"values v{strength}"


def _said(cell: Cell, same: str) -> str:
    where = f"{cell.stack}.{cell.number}" if cell.number is not None else "outside of layers"
    parts = [f"{getattr(cell, name):,} {text}" for name, text in STATES.items() if getattr(cell, name)]
    differing = "; ".join(parts) or same
    relative = f" by {share(cell.relative)}" if cell.relative else ""
    return f"{where} {cell.component}, {plural(cell.tensors, 'tensor')}: {differing}{relative}"
