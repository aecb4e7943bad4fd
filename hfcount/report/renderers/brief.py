"""Renders one line for each report, and a tally of several."""

from collections.abc import Sequence

from hfcount.report.model import Report
from hfcount.report.renderers.text import inert, tally, verdict
from hfcount.text import printable


def render(reports: Sequence[Report]) -> str:
    """A line for each report."""
    lines = [printable(f"{report.label}: {verdict(report)}", None) for report in reports]
    return inert("\n".join([*lines, tally(reports)] if len(reports) > 1 else lines))
