"""The reports as workflow commands of GitHub Actions: an annotation for each finding, then the verdicts.

Escapes are those of GitHub's toolkit (actions/toolkit, packages/core/src/command.ts).
"""

from collections.abc import Iterator, Sequence

from hfcount.report.model import Report
from hfcount.report.renderers import settings
from hfcount.report.renderers.paths import line, path
from hfcount.report.renderers.text import inert, tally, verdict
from hfcount.text import printable

_LEVELS = {"error": "error", "note": "notice"}


def render(reports: Sequence[Report]) -> str:
    """Annotations, and a line for each model; no name in them can begin a command of its own."""
    lines = [line for report in reports for line in _annotations(report)]
    lines += [inert(printable(f"{report.label}: {verdict(report)}", None)) for report in reports]
    return "\n".join([*lines, tally(reports)] if len(reports) > 1 else lines)


def _annotations(report: Report) -> Iterator[str]:
    for finding in report.findings:
        title = f"{finding.code} {finding.name}"
        waived = f"{settings.source(finding.waived)}. " if finding.waived else ""
        text = f"{report.label}: {waived}{finding.message} See {finding.rule.url}"
        yield _command(_LEVELS[finding.severity], text, title, path(report, finding), line(finding))
    if report.error:
        yield _command("warning", f"{report.label}: {report.error.message}", report.error.kind)


def _command(name: str, message: str, title: str, file: str | None = None, line: int = 1) -> str:
    given = {"file": file, "line": str(line) if file else None, "title": title}
    settings = ",".join(f"{key}={_property(value)}" for key, value in given.items() if value)
    return f"::{name} {settings}::{_data(message)}"


def _data(text: str) -> str:
    return printable(text, None).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace("##[", "#%23[")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
