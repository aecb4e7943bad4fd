"""The report for a model card or a pull request, in GitHub's Markdown."""

import re
from collections.abc import Iterator, Sequence

from hfcount.report import Report
from hfcount.reporters.words import origin, remarks, share, verdict

_NUMBERS = ("parameters", "share", "active", "shape", "elements", "value", "expected", "observed")
_MARKS = {"verified": "✅", "explained": "✅", "mismatch": "❌", "unverified": "⚠️"}


def details(report: Report) -> str:
    """Everything about one checkpoint."""
    return "\n".join(_lines(report))


def summary(reports: Sequence[Report]) -> str:
    """One row for each checkpoint."""
    rows = [
        (
            code(report.model),
            _number(report.parameters.total if report.parameters else None),
            _number(report.parameters.active if report.parameters else None),
            f"{_MARKS[report.verdict]} {report.verdict}",
        )
        for report in reports
    ]
    return "\n".join(_table(("model", "parameters", "active", "verdict"), rows))


def _lines(report: Report) -> Iterator[str]:
    yield f"### {code(report.model)}"
    yield ""
    yield f"{_MARKS[report.verdict]} **{escape(verdict(report))}**"
    if origin(report):
        yield ""
        yield escape(origin(report))
    if report.components:
        yield ""
        yield from _components(report)
    if report.tensors is not None:
        yield ""
        rows = [
            (code(row.name), row.kind, "×".join(map(str, row.shape)), _number(row.elements)) for row in report.tensors
        ]
        yield from _table(("tensor", "kind", "shape", "elements"), rows)
    if report.formula is not None:
        yield ""
        yield from _table(
            ("component", "formula", "value"),
            [(part.component, code(part.symbols), _number(part.value)) for part in report.formula.parts],
        )
    if report.checks:
        yield ""
        rows = [
            (
                check.name,
                _number(check.expected),
                _number(check.observed),
                ("agrees" if check.agrees else "**differs**") + (f": {escape(check.text)}" if check.text else ""),
            )
            for check in report.checks
        ]
        yield from _table(("check", "expected", "observed", ""), rows)
    for remark in remarks(report):
        yield ""
        yield escape(remark)
    for finding in report.findings:
        yield ""
        yield f"- **{finding.severity} {finding.code} {finding.name}**: {escape(finding.message)}"
        yield from (f"  - {code(row)}" for row in finding.tensors)


def _components(report: Report) -> Iterator[str]:
    whole = sum(component.total for component in report.components)
    rows = [
        (component.name, _number(component.total), share(component.total, whole), _number(component.active))
        for component in report.components
    ]
    counts = report.parameters
    if counts and counts.total is not None:
        rows.append(("**total**", f"**{counts.total:,}**", "100.0 %", f"**{counts.active:,}**"))
    return _table(("component", "parameters", "share", "active"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("--:" if name in _NUMBERS else ":--" for name in head) + " |"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def escape(text: str) -> str:
    """Foreign text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#~])", r"\\\1", text.replace("&", "&amp;"))


def code(text: str) -> str:
    """Foreign text as a code span, whatever backticks it holds."""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    space = " " if text.strip() and (text[0] in "` " or text[-1] in "` ") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"
