"""The report for a terminal, as rich renderables; plain text when piped."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hfcount.figures import ClosedForm
from hfcount.report.model import Report, ReportedFinding
from hfcount.reporters.comparing import compared
from hfcount.reporters.selection import comparable, in_full, judged
from hfcount.reporters.text import (
    formulas,
    inert,
    looked,
    number,
    origin,
    remarks,
    serving,
    share,
    tally,
    verdict,
)
from hfcount.text import plural

_COLOURS = {
    "verified": "green",
    "explained": "green",
    "allowed": "yellow",
    "mismatch": "red",
    "unverified": "yellow",
}
_BAR = 10  # columns
_ROOM = 64  # columns: a narrower summary has verdicts alone
_TEXT = 24  # columns that text beside numbers needs
_ROWS = 8  # folded names under a finding


def render(reports: Sequence[Report]) -> str:
    """The text for one or several reports, in the terminal's width and colours."""
    console = Console(highlight=False)
    with console.capture() as captured:
        for place, report in enumerate(in_full(reports)):
            if place:
                console.print()
            for part in details(report, console.width):
                console.print(part)
        if comparable(reports):
            for part in comparison(reports, console.width):
                console.print(part)
        if judged(reports):
            for part in ("", summary(reports, console.width), "", tally(reports)):
                console.print(part)
    return inert("\n".join(line.rstrip() for line in captured.get().split("\n")).strip("\n"))


def as_html(report: Report) -> str:
    """The text of one report for a notebook, in colours that a light and a dark page can show."""
    console = Console(highlight=False, record=True, width=100, file=StringIO(), color_system="truecolor")
    for part in details(report, console.width):
        console.print(part)
    return console.export_html(inline_styles=True, code_format='<pre style="line-height:1.25">{code}</pre>')


def details(report: Report, width: int = 80) -> Iterator[RenderableType]:
    """Everything about one checkpoint, the verdict last, in `width` columns."""
    yield Text(report.label, "bold")
    if looked(report):
        yield Text(looked(report))
    if origin(report):
        yield Text(origin(report), "dim")
    for section in _sections(report, width):
        yield Text()
        yield from section
    for finding in report.findings:
        yield Text()
        yield from _finding(finding)
    yield Text()
    yield Text(verdict(report), f"bold {_COLOURS[report.verdict]}")


def _sections(report: Report, width: int) -> Iterator[Iterable[RenderableType]]:
    """What a report has of counts, costs, tensors, formulas and checks."""
    if report.components:
        yield _components(report, width)
    if serving(report):
        yield [_serving(report, width)]
    if report.tensors is not None:
        yield _tensors(report, width)
    if report.formula is not None:
        yield _formula(report.formula)
    if report.checks:
        yield [_checks(report, width)]
    yield from ([Text(remark)] for remark in remarks(report))


def _finding(finding: ReportedFinding) -> Iterator[RenderableType]:
    colour = "red" if finding.severity == "error" else "yellow"
    yield Text.assemble((finding.severity, f"bold {colour}"), f" {finding.code} {finding.name}")
    yield Padding(Text(finding.message), (0, 0, 0, 2))
    rows = list(finding.rows[:_ROWS]) if len(finding.rows) > 3 else []  # the message names the first three
    if len(finding.rows) > _ROWS:
        rows.append(f"... and {plural(len(finding.rows) - _ROWS, 'more row')} (--format json lists them)")
    for row in rows:
        yield Padding(Text(row, "dim"), (0, 0, 0, 4))


def summary(reports: Sequence[Report], width: int = 80) -> RenderableType:
    """One row for each checkpoint: the verdict, and beside it numbers of parameters where these have room."""
    rows = [
        (
            number(report.parameters.total if report.parameters else None),
            number(report.parameters.active if report.parameters else None),
        )
        for report in reports
    ]
    numbers = width >= _ROOM
    table = _table()
    table.add_column("model", overflow="fold")
    for name in ("parameters", "active") if numbers else ():
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for report, row in zip(reports, rows, strict=True):
        table.add_row(Text(report.label), *(row if numbers else ()), Text(report.verdict, _COLOURS[report.verdict]))
    return table


def comparison(reports: Sequence[Report], width: int = 80) -> Iterator[RenderableType]:
    """Models side by side: their sizes, then the shares of their components, in tables that fit the width."""
    head, rows, sizes = compared(reports)
    for group in (range(1, sizes), range(sizes, len(head))):
        for part in _apart(head, rows, group, width):
            yield Text()
            yield part


def _apart(head: Sequence[str], rows: Sequence[Sequence[str]], group: range, width: int) -> Iterator[RenderableType]:
    """Columns of numbers in as few tables as the width allows, each with the first column, which alone may fold."""
    label = min(max(len(row[0]) for row in rows), max(width // 3, 12))
    for columns in _fitting(head, rows, group, width - label - 2):
        lines = max(head[column].count(", ") for column in columns)
        table = _table()
        table.add_column("\n" * lines + head[0], overflow="fold", min_width=min(label, 12))
        for column in columns:
            text = head[column].replace(", ", "\n")
            widest = max(len(row[column]) for row in rows)
            table.add_column(
                text, justify="right", overflow="fold", min_width=min(widest, width - 14), vertical="bottom"
            )
        for row in rows:
            table.add_row(Text(row[0]), *(row[column] for column in columns))
        yield table


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]], group: range, width: int) -> list[range]:
    """The columns of a group, in as few tables as the width allows, of about equal width."""
    needed = {
        column: max(*(len(row[column]) for row in rows), *map(len, head[column].split(", "))) + 2 for column in group
    }
    fewest = len(_split(needed, width))
    return next((found for room in range(width) if len(found := _split(needed, room)) == fewest), _split(needed, width))


def _split(needed: Mapping[int, int], width: int) -> list[range]:
    parts, taken = list[range](), 0
    for column, own in needed.items():
        if parts and taken + own <= width:
            parts[-1] = range(parts[-1].start, column + 1)
            taken += own
        else:
            parts.append(range(column, column + 1))
            taken = own
    return parts


def _components(report: Report, width: int) -> Iterator[RenderableType]:
    counts = report.parameters
    whole = sum(component.total for component in report.components)
    rows = [
        (part.name, number(part.total), share(part.total, whole), number(part.active)) for part in report.components
    ]
    last = []
    if counts and counts.total is not None:
        last.append(("total", number(counts.total), share(whole, whole), number(counts.active)))
        if counts.active_without_embedding != counts.active:
            last.append(("without the embedding", "", "", number(counts.active_without_embedding)))
    head, room = ("component", "parameters", "share", "active"), width - 14
    if len(_fitting(head, [*rows, *last], range(1, 4), room)) > 1:
        for place, one in enumerate(_apart(head, [*rows, *last], range(1, 4), width)):
            yield from [Text(), one] if place else [one]
        return
    bars = len(_fitting(head, [*rows, *last], range(1, 4), room - _BAR - 2)) == 1
    table = _table()
    table.add_column(head[0], overflow="fold")
    for name in head[1:]:
        table.add_column(name, justify="right", no_wrap=True)
        if name == "share":
            table.add_column("", width=_BAR if bars else 0, no_wrap=True)
    for part, row in zip(report.components, rows, strict=True):
        table.add_row(*row[:3], _Bar(part.total, whole) if bars else "", row[3])
    table.add_section()
    for place, row in enumerate(last):
        table.add_row(*row[:3], "", row[3], style=None if place else "bold")
    yield table


class _Bar:
    """A share as a small bar, if the terminal can show block characters."""

    def __init__(self, part: int, whole: int) -> None:
        self._part, self._whole = part, whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not options.ascii_only:
            yield Bar(self._whole, 0, self._part, width=_BAR)


def _narrow(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether columns of numbers are too wide for one of text beside them."""
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) + _TEXT > width


def _serving(report: Report, width: int) -> RenderableType:
    narrow = _narrow([row[:2] for row in serving(report)], width)
    table = _table()
    table.add_column("serving", overflow="fold")
    if not narrow:
        table.add_column("", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for name, count, text in serving(report):
        joined = f"{count} {text}" if count[:1].isdigit() else ": ".join(filter(None, (count, text)))
        table.add_row(name, *([Text(joined)] if narrow else [count, Text(text)]))
    return table


def _checks(report: Report, width: int) -> RenderableType:
    narrow = _narrow([(one.name, number(one.expected), number(one.observed)) for one in report.checks], width)
    table = _table()
    table.add_column("check", overflow="fold")
    for name in () if narrow else ("expected", "observed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for check in report.checks:
        outcome = Text("agrees", "green") if check.agrees else Text("differs", "red")
        said = Text.assemble(outcome, Text(f": {check.text}" if check.text else ""))
        numbers = [number(check.expected), number(check.observed)]
        if narrow:
            said = Text.assemble(f"expected {numbers[0]}, observed {numbers[1]}: ", said)
        table.add_row(check.name, *([] if narrow else numbers), said)
    return table


def _tensors(report: Report, width: int) -> Iterator[RenderableType]:
    shapes = ["×".join(map(str, row.shape)) for row in report.tensors or ()]
    sizes = [number(row.elements) for row in report.tensors or ()]
    narrow = bool(shapes) and _narrow(list(zip(shapes, sizes, strict=True)), width)
    table = _table()
    table.add_column("tensor", overflow="fold")
    table.add_column("shape", justify="right")
    table.add_column("elements", justify="right", no_wrap=True)
    for row, shape, elements in zip(report.tensors or (), shapes, sizes, strict=True):
        name = row.name + ("" if row.kind == "parameter" else f" ({row.kind})")
        if narrow:
            yield Text(name, overflow="fold")
            yield Padding(Text(f"{shape}: {elements} elements" if shape else f"{elements} elements"), (0, 0, 0, 2))
        else:
            table.add_row(Text(name), shape, elements)
    if not narrow:
        yield table


def _formula(formula: ClosedForm) -> Iterator[RenderableType]:
    for title, parts in formulas(formula):
        for part in parts:
            yield Text.assemble((f"{part.component}{title}", "bold"), f" = {part.symbols}")
            yield Padding(Text(f"= {part.numbers}"), (0, 0, 0, 2))
            yield Padding(Text(f"= {part.value:,}"), (0, 0, 0, 2))
    yield Text()
    table = _table()
    table.add_column("with")
    table.add_column("", justify="right", overflow="fold")
    table.add_column("from", overflow="fold")
    for symbol, value in formula.legend.items():
        table.add_row(Text(symbol), number(value), Text(formula.keys.get(symbol, "")))
    yield table


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
