"""Renders the terminal sections of a report: checks, components, serving, tensors, formulas."""

from collections.abc import Iterator, Sequence

from hfcount.report.figures import ClosedForm, Parameters
from hfcount.report.model import PipelinePart, Report
from hfcount.report.renderers import text as words
from hfcount.report.renderers.amounts import short
from hfcount.report.renderers.columns import COLOURS, apart, fitting, narrow
from hfcount.report.renderers.layout import Bar, Block, Column, Indented, Table, Text
from hfcount.report.renderers.loaders import rows as loader_rows
from hfcount.report.renderers.selection import sparse
from hfcount.report.renderers.text import formulas, number, share

_BAR = 10  # columns


def components(report: Report, width: int) -> Iterator[Block]:
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
    numbers = [Column(name, "right", wraps=False) for name in head[1:]]
    table = Table([Column(head[0]), *numbers[:2], *([Column(wraps=False, width=_BAR)] if bars else []), *numbers[2:]])
    for part, row in zip(report.components, rows, strict=True):
        table.add(*row[:3], *([Bar(part.total, total, _BAR)] if bars else []), *row[3:])
    for place, row in enumerate(last):
        rounded = "" if place else short(total)
        table.add(*row[:3], *([rounded] if bars else []), *row[3:], style="" if place else "bold")
    return table


def loaders(report: Report) -> Block:
    """What each loader makes of the checkpoint, and how that is known."""
    table = Table([Column(name) for name in ("loader", "outcome", "", "known by")])
    for row in loader_rows(report):
        table.add(*row)
    return table


def serving(report: Report, width: int) -> Block:
    """What serving the model takes."""
    rows = words.serving(report)
    tight = narrow([row[:2] for row in rows], width)
    table = Table([Column("serving"), *([] if tight else [Column(align="right", wraps=False)]), Column()])
    for name, count, text in rows:
        joined = f"{count} {text}" if count[:1].isdigit() else ": ".join(filter(None, (count, text)))
        table.add(name, *([joined] if tight else [count, text]))
    return table


def checks(report: Report, width: int) -> Block:
    """What was compared; agreement is no good news of a checkpoint that is not good."""
    tight = narrow([(check.name, number(check.expected), number(check.observed)) for check in report.checks], width)
    numbers = [Column(name, "right", wraps=False) for name in ("expected", "observed")]
    table = Table([Column("check"), *([] if tight else numbers), Column()])
    for check in report.checks:
        outcome = Text("agrees", "green" if report.ok else "dim") if check.agrees else Text("differs", "red")
        outcome = Text.of(outcome, f": {check.text}" if check.text else "")
        sizes = [number(check.expected), number(check.observed)]
        if tight:
            outcome = Text.of(f"expected {sizes[0]}, observed {sizes[1]}: ", outcome)
        table.add(check.name, *([] if tight else sizes), outcome)
    return table


def modules(report: Report) -> Block:
    """What sentence-transformers puts around the model, counted apart from it."""
    numbers = [Column(name, "right", wraps=False) for name in ("parameters", "width")]
    table = Table([Column("module"), *numbers, Column()])
    for module in report.modules or ():
        place = f"{module.path} ({module.kind})" if module.path and module.kind not in module.path else module.path
        colour = COLOURS[module.verdict] if module.verdict != "verified" or report.ok else "dim"
        outcome = Text(module.verdict, colour)
        table.add(place or module.kind, number(module.parameters), number(module.width), outcome)
    return table


def parts(report: Report) -> Block:
    """The parts of a pipeline, those without weights included."""
    numbers = [Column(name, "right", wraps=False) for name in ("parameters", "weights")]
    table = Table([Column("part"), Column("class"), *numbers, Column()])
    for row in words.part_rows(report):
        colour = COLOURS.get(row.verdict, "dim")
        table.add(row.name, row.kind, row.parameters, row.weights, Text(row.verdict, colour))
    return table


def tensors(report: Report | PipelinePart, width: int) -> Iterator[Block]:
    """Every tensor that the config describes, folded into rows."""
    shapes = ["×".join(map(str, row.shape)) for row in report.tensors or ()]
    sizes = [number(row.elements) for row in report.tensors or ()]
    tight = bool(shapes) and narrow(list(zip(shapes, sizes, strict=True)), width)
    table = Table([Column("tensor"), Column("shape", "right"), Column("elements", "right", wraps=False)])
    for row, shape, elements in zip(report.tensors or (), shapes, sizes, strict=True):
        name = row.name + ("" if row.kind == "parameter" else f" ({row.kind})")
        if tight:
            yield Text(name)
            yield Indented(Text(f"{shape}: {elements} elements" if shape else f"{elements} elements"), 2)
        else:
            table.add(name, shape, elements)
    if not tight:
        yield table


def formula(formula: ClosedForm) -> Iterator[Block]:
    """The counts as formulas, and what their symbols stand for."""
    for title, parts in formulas(formula):
        for part in parts:
            yield Text.of((f"{part.component}{title}", "bold"), f" = {part.symbols}")
            yield Indented(Text(f"= {part.numbers}"), 2)
            yield Indented(Text(f"= {part.value:,}"), 2)
    yield Text()
    table = Table([Column("with"), Column(align="right"), Column("from")])
    for symbol, value in formula.legend.items():
        table.add(symbol, number(value), formula.keys.get(symbol, ""))
    yield table
