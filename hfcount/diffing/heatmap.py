"""What differs layer by layer, for a picture of it."""

from collections.abc import Iterator

from hfcount.diffing.matching import Matched
from hfcount.diffing.pieces import Cell
from hfcount.diffing.tensors import Logical
from hfcount.diffing.values import Gap, Gaps, total
from hfcount.spec.tree.leaves import split
from hfcount.text import printable

_MOST = 5_000  # cells that a report has

_Place = tuple[str, int | None, str]
"""The list of layers, the number in it, and the component."""


def cells(matched: Matched, gaps: Gaps | None) -> tuple[Cell, ...]:
    """All layers by component; none if nothing differs, or there are too many."""
    counts: dict[_Place, dict[str, int]] = {}
    values: dict[_Place, list[Gap]] = {}
    known = gaps.by_key if gaps else {}
    for key, one, state in _states(matched):
        place = _place(key, one)
        found = counts.setdefault(place, {"tensors": 0})
        found["tensors"] += 1
        if state:
            found[state] = found.get(state, 0) + 1
        if (gap := known.get(key)) and not gap.same:
            found["values"] = found.get("values", 0) + 1
            values.setdefault(place, []).append(gap)
    if len(counts) > _MOST or not any(len(found) > 1 for found in counts.values()):
        return ()
    return tuple(
        Cell(stack=place[0], number=place[1], component=place[2], relative=_relative(values.get(place)), **found)
        for place, found in counts.items()
    )


def _states(matched: Matched) -> Iterator[tuple[str, Logical, str]]:
    """Each tensor, and what differs in it."""
    dtypes = matched.dtypes
    for key, (one, other) in matched.both.items():
        yield key, one, "shapes" if one.shape != other.shape else "dtypes" if key in dtypes else ""
    yield from ((key, one, "only_a") for key, one in matched.only_a.items())
    yield from ((key, one, "only_b") for key, one in matched.only_b.items())


def _place(key: str, one: Logical) -> _Place:
    text, numbers = split(key)
    component = one.component or "other"
    return (printable(text[0][1:]), numbers[0], component) if numbers else ("", None, component)


def _relative(gaps: list[Gap] | None) -> float | None:
    whole = total(gaps or [])
    return whole.relative if whole else None
