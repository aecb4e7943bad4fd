"""Renders reports as GitHub Markdown, for model cards and pull requests."""

import re
from collections.abc import Iterator, Sequence

from hfcount.blueprints.formula.latex import latex
from hfcount.report.figures import ClosedForm
from hfcount.report.model import PipelinePart, Report, ReportedFinding
from hfcount.report.renderers import loaders, settings
from hfcount.report.renderers.comparison import compared
from hfcount.report.renderers.depth import looked
from hfcount.report.renderers.selection import comparable, in_full, judged, sparse
from hfcount.report.renderers.text import (
    formulas,
    inert,
    number,
    origin,
    outcome,
    part_rows,
    remarks,
    serving,
    share,
    tally,
    verdict,
)

_NUMBERS = ("parameters", "weights", "share", "active", "shape", "elements", "value", "expected", "observed", "amount")
# GitHub looks for addresses, users and issues in the text that it shows, whatever was escaped in its source.
_LIVE = re.compile(r"@|://|www\.|#\d|\bgh-\d", re.IGNORECASE)
_MARKS = {"verified": "✅", "explained": "✅", "allowed": "⚠️", "mismatch": "❌", "unverified": "⚠️", "counted": "ℹ️"}


def render(reports: Sequence[Report]) -> str:
    """The text for one or several reports."""
    parts = [summary(reports), tally(reports)] if judged(reports) else []
    parts += [details(report) for report in in_full(reports)]
    if comparable(reports):
        parts.append(comparison(reports))
    return inert("\n\n".join(parts))


def details(report: Report) -> str:
    """Everything about one checkpoint."""
    return "\n".join(_lines(report))


def summary(reports: Sequence[Report]) -> str:
    """One row for each checkpoint."""
    columns: dict[str, list[str]] = {
        "model": [code(report.label) for report in reports],
        "parameters": [number(report.parameters.total if report.parameters else None) for report in reports],
        "active": [number(report.parameters.active if report.parameters else None) for report in reports],
        "verdict": [f"{_MARKS[outcome(report)]} {outcome(report)}" for report in reports],
    }
    if not sparse(reports):
        del columns["active"]
    return "\n".join(_table([*columns], [*zip(*columns.values(), strict=True)]))


def comparison(reports: Sequence[Report]) -> str:
    """Models side by side."""
    head, rows, _ = compared(reports)
    text = [name.replace(", ", " ") for name in head]
    return "\n".join(_table(text, [(code(row[0]), *map(escape, row[1:])) for row in rows], numbers=text[1:]))


def _lines(report: Report) -> Iterator[str]:
    """In the order of the terminal: the verdict, the findings, what was compared, and then the counts."""
    yield f"### {code(report.label)}"
    yield ""
    yield f"{_MARKS[outcome(report)]} **{escape(verdict(report))}**"
    if readers := loaders.line(report):
        yield ""
        yield escape(readers)
    yield from _findings(report)
    for text in filter(None, (looked(report), *remarks(report), origin(report))):
        yield ""
        yield escape(text)
    yield from _checks(report)
    yield from _loaders(report)
    if report.components or report.parts:
        yield ""
        yield from _parts(report) if report.parts else _components(report)
    if serving(report):
        yield ""
        costs = [(name, count, escape(text)) for name, count, text in serving(report)]
        yield from _table(("serving", "amount", ""), costs)
    yield from _in_detail(report)
    for part in report.parts or ():
        if detail := list(_in_detail(part)):
            yield from ("", f"#### {code(part.name)}", *detail)


def _findings(report: Report) -> Iterator[str]:
    """The findings, errors first."""
    for finding in sorted(report.findings, key=_severity):
        yield ""
        title = f"[{finding.code} {finding.name}]({finding.rule.url})"
        yield f"- **{finding.severity} {title}**: {escape(finding.message)}"
        yield from (f"  - {code(row)}" for row in finding.rows)
        if finding.waived:
            yield f"  - {escape(settings.source(finding.waived))}"


def _severity(finding: ReportedFinding) -> str:
    """By what findings are sorted: an error comes before a note."""
    return finding.severity


def _checks(report: Report) -> Iterator[str]:
    if report.checks:
        yield ""
        rows = [
            (
                check.name,
                number(check.expected),
                number(check.observed),
                ("agrees" if check.agrees else "**differs**") + (f": {escape(check.text)}" if check.text else ""),
            )
            for check in report.checks
        ]
        yield from _table(("check", "expected", "observed", ""), rows)


def _loaders(report: Report) -> Iterator[str]:
    """What each loader makes of the checkpoint."""
    if report.loaders:
        yield ""
        rows = [(row.name, row.outcome, escape(row.says), escape(row.known)) for row in loaders.rows(report)]
        yield from _table(("loader", "outcome", "", "known by"), rows)


def _parts(report: Report) -> Iterator[str]:
    rows = [
        (code(row.name), code(row.kind) if row.kind else "", row.parameters, row.weights, row.verdict)
        for row in part_rows(report)
    ]
    return _table(("part", "class", "parameters", "weights", "verdict"), rows)


def _in_detail(report: Report | PipelinePart) -> Iterator[str]:
    """The tensors and the formula, where they were asked for."""
    if report.tensors is not None:
        yield ""
        rows = [
            (code(row.name), row.kind, "×".join(map(str, row.shape)), number(row.elements)) for row in report.tensors
        ]
        yield from _table(("tensor", "kind", "shape", "elements"), rows)
    if report.formula is not None:
        yield ""
        yield from _formula(report.formula)


def _formula(formula: ClosedForm) -> Iterator[str]:
    """A list, since a table would be as wide as its longest formula."""
    for title, parts in formulas(formula):
        for part in parts:
            yield f"- **{escape(part.component)}**{title}: ${latex(part.symbols)}$<br>"
            yield f"  $= {latex(part.numbers)}$<br>"
            yield f"  = {part.value:,}"
    yield ""
    rows = [
        (f"${latex(symbol)}$", number(value), escape(formula.keys.get(symbol, "")))
        for symbol, value in formula.legend.items()
    ]
    yield from _table(("symbol", "value", "from"), rows)


def _components(report: Report) -> Iterator[str]:
    total = sum(component.total for component in report.components)
    rows = [
        (component.name, number(component.total), share(component.total, total), number(component.active))
        for component in report.components
    ]
    counts = report.parameters
    if counts and counts.total is not None:
        rows.append(("**total**", f"**{counts.total:,}**", "100.0 %", f"**{number(counts.active)}**"))
    width = 4 if sparse([report]) else 3
    return _table(("component", "parameters", "share", "active")[:width], [row[:width] for row in rows])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = _NUMBERS) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("--:" if name in numbers else ":--" for name in head) + " |"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def escape(text: str) -> str:
    """Foreign text that Markdown shows as it is: a word that could become a link or a mention as a code span."""
    return "".join(code(word) if _LIVE.search(word) else _escaped(word) for word in re.split(r"(\s+)", text))


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#~])", r"\\\1", text.replace("&", "&amp;"))


def code(text: str) -> str:
    """Foreign text as a code span, which may contain backticks."""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    space = " " if text.strip() and (text[0] in "` " or text[-1] in "` ") else ""
    return f"{fence}{space}{text}{space}{fence}"
