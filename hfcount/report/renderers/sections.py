"""Renders the terminal sections of a report: checks, components, serving, tensors, formulas."""

from collections.abc import Iterator, Sequence

from rich.bar import Bar
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hfcount.report.figures import ClosedForm, Parameters
from hfcount.report.model import PipelinePart, Report
from hfcount.report.renderers import text as words
from hfcount.report.renderers.amounts import short
from hfcount.report.renderers.columns import COLOURS, apart, fitting, narrow, plain
from hfcount.report.renderers.loaders import rows as loader_rows
from hfcount.report.renderers.selection import sparse
from hfcount.report.renderers.text import formulas, number, share

_BAR = 10  # columns


def components(report: Report, width: int) -> Iterator[RenderableType]:
    """Parameters by component; the active ones only where they are fewer."""
    counts, total = report.parameters, sum(component.total for component in report.components)
    head = ("component", "parameters", "share", *(["active"] if sparse([report]) else []))
    rows = [
        (part.name, number(part.total), share(part.total, total), number(part.active))[: len(head)]
        for part in report.components
    ]
    last = [row[: len(head)] for row in _totals(counts, total, sparse([report]))] if counts else []
    group, room = range(1, len(head)), width - 14
    if len(fitting(head, [*rows, *last], group, room)) > 1:
        for place, table in enumerate(apart(head, [*rows, *last], group, width)):
            yield from [Text(), table] if place else [table]
        return
    bars = len(fitting(head, [*rows, *last], group, room - _BAR - 2)) == 1
    yield _components(report, head, rows, last, bars)


_Row = tuple[str, ...]


def _totals(counts: Parameters, total: int, fewer: bool) -> Iterator[_Row]:
    """The rows below the components."""
    if counts.total is None:
        return
    yield "total", number(counts.total), share(total, total), number(counts.active)
    rest = counts.active_without_embedding
    if rest not in (None, counts.active):
        yield "without the embedding", "" if fewer else number(rest), "", number(rest)


def _components(report: Report, head: _Row, rows: Sequence[_Row], last: Sequence[_Row], bars: bool) -> Table:
    total = sum(component.total for component in report.components)
    table = plain()
    table.add_column(head[0], overflow="fold")
    for name in head[1:]:
        table.add_column(name, justify="right", no_wrap=True)
        if name == "share":
            table.add_column("", width=_BAR if bars else 0, no_wrap=True)
    for part, row in zip(report.components, rows, strict=True):
        table.add_row(*row[:3], _Bar(part.total, total) if bars else "", *row[3:])
    for place, row in enumerate(last):
        table.add_row(*row[:3], "" if place or not bars else short(total), *row[3:], style=None if place else "bold")
    return table


class _Bar:
    """A share as a small bar, if the terminal can show block characters."""

    def __init__(self, part: int, total: int) -> None:
        self._part, self._whole = part, total

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not options.ascii_only:
            yield Bar(self._whole, 0, self._part, width=_BAR)


def loaders(report: Report) -> RenderableType:
    """What each loader makes of the checkpoint, and how that is known."""
    table = plain()
    for name in ("loader", "outcome", "", "known by"):
        table.add_column(name, overflow="fold")
    for row in loader_rows(report):
        table.add_row(*row)
    return table


def serving(report: Report, width: int) -> RenderableType:
    """What serving the model takes."""
    rows = words.serving(report)
    tight = narrow([row[:2] for row in rows], width)
    table = plain()
    table.add_column("serving", overflow="fold")
    if not tight:
        table.add_column("", justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for name, count, text in rows:
        joined = f"{count} {text}" if count[:1].isdigit() else ": ".join(filter(None, (count, text)))
        table.add_row(name, *([Text(joined)] if tight else [count, Text(text)]))
    return table


def checks(report: Report, width: int) -> RenderableType:
    """What was compared; agreement is no good news of a checkpoint that is not good."""
    tight = narrow([(check.name, number(check.expected), number(check.observed)) for check in report.checks], width)
    table = plain()
    table.add_column("check", overflow="fold")
    for name in () if tight else ("expected", "observed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for check in report.checks:
        outcome = Text("agrees", "green" if report.ok else "dim") if check.agrees else Text("differs", "red")
        outcome = Text.assemble(outcome, f": {check.text}" if check.text else "")
        numbers = [number(check.expected), number(check.observed)]
        if tight:
            outcome = Text.assemble(f"expected {numbers[0]}, observed {numbers[1]}: ", outcome)
        table.add_row(check.name, *([] if tight else numbers), outcome)
    return table


def modules(report: Report) -> RenderableType:
    """What sentence-transformers puts around the model, counted apart from it."""
    table = plain()
    table.add_column("module", overflow="fold")
    table.add_column("parameters", justify="right", no_wrap=True)
    table.add_column("width", justify="right", no_wrap=True)
    table.add_column("")
    for module in report.modules or ():
        place = f"{module.path} ({module.kind})" if module.path and module.kind not in module.path else module.path
        colour = COLOURS[module.verdict] if module.verdict != "verified" or report.ok else "dim"
        outcome = Text(module.verdict, colour)
        table.add_row(place or module.kind, number(module.parameters), number(module.width), outcome)
    return table


def parts(report: Report) -> RenderableType:
    """The parts of a pipeline, those without weights included."""
    table = plain()
    table.add_column("part", overflow="fold")
    table.add_column("class", overflow="fold")
    table.add_column("parameters", justify="right", no_wrap=True)
    table.add_column("weights", justify="right", no_wrap=True)
    table.add_column("")
    for row in words.part_rows(report):
        colour = COLOURS.get(row.verdict, "dim")
        table.add_row(Text(row.name), Text(row.kind), row.parameters, row.weights, Text(row.verdict, colour))
    return table


def tensors(report: Report | PipelinePart, width: int) -> Iterator[RenderableType]:
    """Every tensor that the config describes, folded into rows."""
    shapes = ["×".join(map(str, row.shape)) for row in report.tensors or ()]
    sizes = [number(row.elements) for row in report.tensors or ()]
    tight = bool(shapes) and narrow(list(zip(shapes, sizes, strict=True)), width)
    table = plain()
    table.add_column("tensor", overflow="fold")
    table.add_column("shape", justify="right")
    table.add_column("elements", justify="right", no_wrap=True)
    for row, shape, elements in zip(report.tensors or (), shapes, sizes, strict=True):
        name = row.name + ("" if row.kind == "parameter" else f" ({row.kind})")
        if tight:
            yield Text(name, overflow="fold")
            yield Padding(Text(f"{shape}: {elements} elements" if shape else f"{elements} elements"), (0, 0, 0, 2))
        else:
            table.add_row(Text(name), shape, elements)
    if not tight:
        yield table


def formula(formula: ClosedForm) -> Iterator[RenderableType]:
    """The counts as formulas, and what their symbols stand for."""
    for title, parts in formulas(formula):
        for part in parts:
            yield Text.assemble((f"{part.component}{title}", "bold"), f" = {part.symbols}")
            yield Padding(Text(f"= {part.numbers}"), (0, 0, 0, 2))
            yield Padding(Text(f"= {part.value:,}"), (0, 0, 0, 2))
    yield Text()
    table = plain()
    table.add_column("with")
    table.add_column("", justify="right", overflow="fold")
    table.add_column("from", overflow="fold")
    for symbol, value in formula.legend.items():
        table.add_row(Text(symbol), number(value), Text(formula.keys.get(symbol, "")))
    yield table
