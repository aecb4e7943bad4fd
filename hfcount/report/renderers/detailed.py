"""The table with nothing left out, for --details."""

from collections.abc import Sequence

from hfcount.report.model import Report
from hfcount.report.renderers import table


def render(reports: Sequence[Report]) -> str:
    """The text for one or several reports."""
    return table.render(reports, full=True)
