"""Renders one line for each model and finding, with file and line."""

from collections.abc import Iterator, Sequence

from hfcount.report.model import Report, ReportedFinding
from hfcount.report.renderers import settings
from hfcount.report.renderers.paths import line, path
from hfcount.report.renderers.text import inert, tally, verdict
from hfcount.text import printable


def render(reports: Sequence[Report]) -> str:
    """The lines, and a tally of several models."""
    lines = [text for report in reports for text in _lines(report)]
    return inert("\n".join([*lines, tally(reports)] if len(reports) > 1 else lines))


def _lines(report: Report) -> Iterator[str]:
    yield printable(f"{report.label}: {verdict(report)}", None)
    for finding in report.findings:
        yield printable(f"{_place(report, finding)}{finding.severity} {_text(finding)}", None)


def _place(report: Report, finding: ReportedFinding) -> str:
    file = path(report, finding)
    return f"{file}:{line(finding)}: " if file else f"{report.label}: "


def _text(finding: ReportedFinding) -> str:
    waived = f"{settings.source(finding.waived)}. " if finding.waived else ""
    return f"{finding.code} {finding.name}: {waived}{finding.message} See {finding.rule.url}"
