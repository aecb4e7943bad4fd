"""The reports as JSON, one object a line."""

from collections.abc import Sequence

from hfcount.report.model import Report


def render(reports: Sequence[Report]) -> str:
    """One line for each report, in ASCII."""
    return "\n".join(report.to_json() for report in reports)
