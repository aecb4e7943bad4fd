"""Renders one line for each report: whether a launcher may start the model."""

from collections.abc import Sequence

from hfcount.report.model import Report
from hfcount.report.renderers.text import inert, verdict
from hfcount.text import printable

_WORDS = {0: "go", 1: "no", 3: "unknown"}


def render(reports: Sequence[Report]) -> str:
    """A line for each report."""
    lines = [f"{_WORDS[report.exit_code]}: {report.label}: {verdict(report)}" for report in reports]
    return inert("\n".join(printable(line, None) for line in lines))
