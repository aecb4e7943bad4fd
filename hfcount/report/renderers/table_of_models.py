"""Renders several models for a terminal: a row each, notes, and components side by side."""

from collections.abc import Callable, Iterator, Sequence

from hfcount.mapper.whatif import written
from hfcount.report.model import Report
from hfcount.report.renderers import settings
from hfcount.report.renderers.amounts import short
from hfcount.report.renderers.columns import COLOURS, apart, fitting
from hfcount.report.renderers.comparison import amount, compared
from hfcount.report.renderers.layout import Block, Text
from hfcount.report.renderers.selection import comparable, deciding, judged
from hfcount.report.renderers.text import number, outcome, verdict
from hfcount.report.serving import Memory

_SHOWN = ("model", "verdict", "total", "active", "weights")


def overview(reports: Sequence[Report], width: int = 80) -> Iterator[Block]:
    """A row for each model, and what was asked about serving them."""
    asked = _asked(reports)
    head, rows = _fitted(reports, width, cache=not asked and any(report.overrides for report in reports))
    yield from _spaced(apart(head, rows, range(1, len(head)), width))
    if asked:
        names, sizes, _ = compared(reports)
        columns = [0, *(place for place, name in enumerate(names) if name in asked)]
        some = [[row[column] for column in columns] for row in sizes]
        yield Text()
        yield from _spaced(apart([names[column] for column in columns], some, range(1, len(columns)), width))


def _asked(reports: Sequence[Report]) -> list[str]:
    """The columns that only some runs have, such as whether the models fit into a memory; none if nothing was asked."""
    if not comparable(reports):
        return []
    head, _, sizes = compared(reports)
    names = [name for name in head[:sizes] if name not in _SHOWN]
    return names if len(names) > 1 else []


_Rows = tuple[list[str], list[list[str]]]


def _fitted(reports: Sequence[Report], width: int, cache: bool) -> _Rows:
    """The heading and the rows of one table: codes, which are listed below, and digits only where there is room."""
    ways = [
        _rows(reports, cache, shows, codes)
        for codes, *shows in (
            (True, number, number),
            (True, number, short),
            (False, number, number),
            (False, number, short),
            (False, short, short),
        )
    ]
    return next((way for way in ways if _fits(*way, width)), ways[-1])


def _fits(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    label = min(max(len(row[0]) for row in rows), max(width // 3, 12))
    return len(fitting(head, rows, range(1, len(head)), width - 2 - label)) == 1


def _rows(reports: Sequence[Report], cache: bool, shows: Sequence[Callable[[int], str]], codes: bool) -> _Rows:
    """Columns of cells that are not all empty; `shows` write all parameters, and the active ones."""
    total, active = shows
    sizes = [amount((report.memory or Memory()).kv_bytes_per_token) for report in reports]
    columns: dict[str, list[str]] = {
        "model": [f"with {written(report.overrides)}" if report.overrides else report.model for report in reports],
        "verdict": [*map(outcome, reports)] if judged(reports) else [],
        "parameters": [_shown(report.parameters.total, total) if report.parameters else "" for report in reports],
        "active": _active(reports, active),
        "weights": [amount(report.memory.weights_bytes) if report.memory else "" for report in reports],
        "cache, per token": sizes if cache and len(set(sizes)) > 1 else [],
        "findings": [_codes(report) for report in reports] if codes else [],
    }
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]


def _active(reports: Sequence[Report], show: Callable[[int], str]) -> list[str]:
    """Active parameters, where some model has fewer of them than parameters."""
    counts = [report.parameters for report in reports]
    if all(count is None or count.active in (None, count.total) for count in counts):
        return []
    return [_shown(count.active, show) if count else "" for count in counts]


def _shown(count: int | None, show: Callable[[int], str]) -> str:
    return "unknown" if count is None else show(count)


def _codes(report: Report) -> str:
    """The codes of what the verdict is about."""
    codes = " ".join(finding.code for finding in deciding(report))
    return codes or (report.error.kind if report.error else "")


def _spaced(tables: Iterator[Block]) -> Iterator[Block]:
    for place, table in enumerate(tables):
        yield from [Text(), table] if place else [table]


def lines(reports: Sequence[Report]) -> Iterator[Block]:
    """A line for each model that is good in spite of what was found."""
    for report in reports:
        if report.verdict in ("explained", "allowed"):
            line = "; ".join(filter(None, [verdict(report), settings.summary(report)]))
            yield Text.of((report.label, "bold"), ": ", (line, COLOURS[report.verdict]))


def comparison(reports: Sequence[Report], width: int = 80) -> Iterator[Block]:
    """Models side by side: their sizes, then the shares of their components, in tables that fit the width."""
    head, rows, sizes = compared(reports)
    for group in (range(1, sizes), range(sizes, len(head))):
        for part in apart(head, rows, group, width):
            yield Text()
            yield part
