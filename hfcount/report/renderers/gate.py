"""Renders one line for each report: whether a launcher may start the model."""

from collections.abc import Sequence
from shlex import quote

from hfcount.report.model import Report
from hfcount.report.renderers import settings
from hfcount.report.renderers.text import inert, verdict
from hfcount.text import printable

_WORDS = {0: "go", 1: "no", 3: "unknown"}


def render(reports: Sequence[Report]) -> str:
    """A line for each report."""
    return inert("\n".join(printable(_line(report), None) for report in reports))


def _line(report: Report) -> str:
    because = "; ".join(filter(None, [verdict(report), settings.summary(report)]))
    return f"{_WORDS[report.exit_code]}: {report.label}: {because}{_then(report)}"


def _then(report: Report) -> str:
    """What to do about a no: how serving would work, or where the findings are shown."""
    if report.exit_code != 1:
        return ""
    if report.verdict == "mismatch":
        return f". `hfcount {quote(report.model)}` shows what is wrong."
    fixes = [finding.fix for finding in report.findings if finding.rule.of_serving and finding.fix]
    return f". {' '.join(dict.fromkeys(fixes))}" if fixes else ""
