"""A treemap's layout: rectangles with areas in proportion to numbers, as nearly square as possible.

Squarified (Bruls, Huizing and van Wijk, Squarified Treemaps, 2000): rows are filled along the shorter side of the free
area, and a row grows while that makes its rectangles less elongated.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


def squarify(amounts: Sequence[int], box: Box) -> list[Box]:
    """A box for each amount, in the same order; amounts must be positive and in descending order."""
    total = sum(amounts)
    areas = [amount / total * box.width * box.height for amount in amounts]
    boxes: list[Box] = []
    while areas:
        upright = box.width >= box.height
        side = box.height if upright else box.width
        count = 1
        while count < len(areas) and _elongation(areas[: count + 1], side) <= _elongation(areas[:count], side):
            count += 1
        row, areas = areas[:count], areas[count:]
        boxes += _row(row, box, upright)
        depth, rest = sum(row) / side, sum(areas) / side  # a sum, since a difference would lose digits
        box = Box(box.left + depth, box.top, rest, side) if upright else Box(box.left, box.top + depth, side, rest)
    return boxes


def _row(areas: Sequence[float], box: Box, upright: bool) -> list[Box]:
    """Boxes side by side along the shorter side of `box`."""
    side = box.height if upright else box.width
    depth, before = sum(areas) / side, 0.0
    boxes = []
    for area in areas:
        if upright:
            boxes.append(Box(box.left, box.top + before, depth, area / depth))
        else:
            boxes.append(Box(box.left + before, box.top, area / depth, depth))
        before += area / depth
    return boxes


def _elongation(areas: Sequence[float], side: float) -> float:
    """The largest aspect ratio (long side / short side) in a row of boxes."""
    depth = sum(areas) / side
    return max(max(area / depth / depth, depth * depth / area) for area in areas)
