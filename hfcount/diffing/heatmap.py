"""Counts differences by layer and component, for the drawing."""

from collections.abc import Iterator

from hfcount.diffing.matching import Matches
from hfcount.diffing.pieces import Cell
from hfcount.diffing.tensors import Logical
from hfcount.diffing.values import Gap, Gaps, total
from hfcount.spec.tree.leaves import split
from hfcount.text import printable

_MOST = 5_000  # cells that a report has

_Place = tuple[str, int | None, str]
"""(list of layers, index in it, component)."""


def cells(matched: Matches, gaps: Gaps | None) -> tuple[Cell, ...]:
    """A cell for each layer and component; none if nothing differs, or there are too many."""
    counts: dict[_Place, dict[str, int]] = {}
    values: dict[_Place, list[Gap]] = {}
    known = gaps.by_key if gaps else {}
    for key, tensor, state in _states(matched):
        place = _place(key, tensor)
        cell = counts.setdefault(place, {"tensors": 0})
        cell["tensors"] += 1
        if state:
            cell[state] = cell.get(state, 0) + 1
        if (gap := known.get(key)) and not gap.same:
            cell["values"] = cell.get("values", 0) + 1
            values.setdefault(place, []).append(gap)
    if len(counts) > _MOST or not any(len(cell) > 1 for cell in counts.values()):
        return ()
    return tuple(
        Cell(stack=place[0], number=place[1], component=place[2], relative=_relative(values.get(place)), **cell)
        for place, cell in counts.items()
    )


def _states(matched: Matches) -> Iterator[tuple[str, Logical, str]]:
    """Each tensor with the kind of its difference."""
    dtypes = matched.dtypes
    for key, (tensor, other) in matched.both.items():
        yield key, tensor, "shapes" if tensor.shape != other.shape else "dtypes" if key in dtypes else ""
    yield from ((key, tensor, "only_a") for key, tensor in matched.only_a.items())
    yield from ((key, tensor, "only_b") for key, tensor in matched.only_b.items())


def _place(key: str, tensor: Logical) -> _Place:
    text, numbers = split(key)
    component = tensor.component or "other"
    return (printable(text[0][1:]), numbers[0], component) if numbers else ("", None, component)


def _relative(gaps: list[Gap] | None) -> float | None:
    difference = total(gaps or [])
    return difference.relative if difference else None
