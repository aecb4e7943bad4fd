"""Draws the magnitudes of tensors by layer, so that outliers stand out."""

import re
from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from statistics import median
from typing import NamedTuple

from hfcount.report.figures import TensorStatistics

WIDTH, HEIGHT = 1000, 340
"""Units of the drawing."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 12, 36
_APART = 1.0  # powers of ten from the median
_MOST = 3_000  # points that are drawn: of more, those that are furthest from the others stay
_LAYER = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")
_TICKS = 12  # numbers of layers under the drawing


class Point(NamedTuple):
    """A tensor: its layer, the power of ten of its root mean square, how far off others that is, where it is drawn."""

    tensor: TensorStatistics
    layer: int
    power: float
    apart: float
    x: float = 0.0
    y: float = 0.0

    @property
    def outlier(self) -> bool:
        """Whether it is ten times as large or as small as the same tensor of other layers."""
        return abs(self.apart) > _APART


class Drawing(NamedTuple):
    """The points, and the marks on both axes, each with its text."""

    points: Sequence[Point]
    across: Sequence[tuple[float, str]]
    up: Sequence[tuple[float, str]]
    components: Sequence[str]
    left_out: int

    @property
    def outliers(self) -> list[Point]:
        """The points that stand apart, the furthest first."""
        return sorted((point for point in self.points if point.outlier), key=lambda point: -abs(point.apart))


def drawing(statistics: Sequence[TensorStatistics]) -> Drawing | None:
    """The drawing of the tensors that several layers have; None if there are none."""
    points = [point for some in _groups(statistics).values() if len(some) > 1 for point in _measured(some)]
    if not points:
        return None
    drawn = sorted(points, key=lambda point: -abs(point.apart))[:_MOST]
    low, high = floor(min(point.power for point in drawn)), ceil(max(point.power for point in drawn))
    high = max(high, low + 1)
    last = max(point.layer for point in drawn)

    def x(layer: int) -> float:
        return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * (layer + 0.5) / (last + 1), 1)

    def y(power: float) -> float:
        return round(HEIGHT - _BOTTOM - (HEIGHT - _BOTTOM - _TOP) * (power - low) / (high - low), 1)

    in_order = sorted(drawn, key=lambda point: point.outlier)
    step, tall = ceil((last + 1) / _TICKS), ceil((high - low) / 8)
    return Drawing(
        [point._replace(x=x(point.layer), y=y(point.power)) for point in in_order],
        [(x(layer), str(layer)) for layer in range(0, last + 1, step)],
        [(y(power), f"1e{power}") for power in range(low, high + 1, tall)],
        sorted({point.tensor.component or "other" for point in drawn}),
        len(points) - len(drawn),
    )


def _groups(statistics: Sequence[TensorStatistics]) -> Mapping[str, list[tuple[int, TensorStatistics]]]:
    """The tensors that differ in numbers alone, each with the first of these, which mostly is that of its layer."""
    groups: dict[str, list[tuple[int, TensorStatistics]]] = {}
    for tensor in statistics:
        number = _LAYER.search(tensor.name)
        if number and tensor.rms and len(number[0]) < 6:
            groups.setdefault(_LAYER.sub("", tensor.name), []).append((int(number[0]), tensor))
    return groups


def _measured(group: Sequence[tuple[int, TensorStatistics]]) -> list[Point]:
    powers = [log10(tensor.rms or 1) for _, tensor in group]
    middle = median(powers)
    return [Point(tensor, layer, power, power - middle) for (layer, tensor), power in zip(group, powers, strict=True)]
