"""The report for a terminal, as rich renderables; plain text when piped."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hfcount.report import Report
from hfcount.reporters.words import origin, remarks, share, verdict
from hfcount.text import plural

_COLOURS = {"verified": "green", "explained": "green", "mismatch": "red", "unverified": "yellow"}
_ROWS = 8  # folded names under a finding


def details(report: Report) -> Iterator[RenderableType]:
    """Everything about one checkpoint, the verdict last."""
    yield Text(report.model, "bold")
    if origin(report):
        yield Text(origin(report), "dim")
    if report.components:
        yield Text()
        yield _components(report)
    if report.tensors is not None:
        yield Text()
        yield _tensors(report)
    if report.formula is not None:
        yield Text()
        yield from _formula(report)
    if report.checks:
        yield Text()
        yield _checks(report)
    for remark in remarks(report):
        yield Text()
        yield Text(remark)
    for finding in report.findings:
        yield Text()
        colour = "red" if finding.severity == "error" else "yellow"
        yield Text.assemble((finding.severity, f"bold {colour}"), f" {finding.code} {finding.name}")
        yield Padding(Text(finding.message), (0, 0, 0, 2))
        rows = list(finding.tensors[:_ROWS]) if len(finding.tensors) > 3 else []  # the message names the first three
        if len(finding.tensors) > _ROWS:
            rows.append(f"... and {plural(len(finding.tensors) - _ROWS, 'more row')} (--format json lists them)")
        for row in rows:
            yield Padding(Text(row, "dim"), (0, 0, 0, 4))
    yield Text()
    yield Text(verdict(report), f"bold {_COLOURS[report.verdict]}")


def summary(reports: Sequence[Report]) -> RenderableType:
    """One row for each checkpoint."""
    table = _table()
    table.add_column("model", overflow="fold")
    table.add_column("parameters", justify="right", overflow="fold")
    table.add_column("active", justify="right", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for report in reports:
        counts = report.parameters
        table.add_row(
            Text(report.model),
            _number(counts.total if counts else None),
            _number(counts.active if counts else None),
            Text(report.verdict, _COLOURS[report.verdict]),
        )
    return table


def _components(report: Report) -> RenderableType:
    counts = report.parameters
    whole = sum(component.total for component in report.components)
    table = _table()
    table.add_column("component")
    for name in ("parameters", "share", "active"):
        table.add_column(name, justify="right", overflow="fold")
    for component in report.components:
        table.add_row(
            component.name, _number(component.total), share(component.total, whole), _number(component.active)
        )
    table.add_section()
    if counts and counts.total is not None:
        table.add_row("total", _number(counts.total), share(whole, whole), _number(counts.active), style="bold")
        if counts.active_without_embedding != counts.active:
            table.add_row("without the embedding", "", "", _number(counts.active_without_embedding))
    return table


def _checks(report: Report) -> RenderableType:
    table = _table()
    table.add_column("check")
    table.add_column("expected", justify="right", overflow="fold")
    table.add_column("observed", justify="right", overflow="fold")
    table.add_column("")
    for check in report.checks:
        outcome = Text("agrees", "green") if check.agrees else Text("differs", "red")
        table.add_row(
            check.name,
            _number(check.expected),
            _number(check.observed),
            Text.assemble(outcome, Text(f": {check.text}" if check.text else "")),
        )
    return table


def _tensors(report: Report) -> RenderableType:
    table = _table()
    table.add_column("tensor", overflow="fold")
    table.add_column("shape", justify="right")
    table.add_column("elements", justify="right", overflow="fold")
    for row in report.tensors or ():
        kind = "" if row.kind == "parameter" else f" ({row.kind})"
        table.add_row(Text(row.name + kind), "×".join(map(str, row.shape)), _number(row.elements))
    return table


def _formula(report: Report) -> Iterator[RenderableType]:
    if report.formula is None:
        return
    for part in report.formula.parts:
        yield Text.assemble((part.component, "bold"), f" = {part.symbols}")
        yield Padding(Text(f"= {part.numbers}"), (0, 0, 0, 2))
        yield Padding(Text(f"= {part.value:,}"), (0, 0, 0, 2))
    legend = ", ".join(f"{symbol} = {value:,}" for symbol, value in report.formula.legend.items())
    yield Text(f"with {legend}", "dim")


def _table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"
