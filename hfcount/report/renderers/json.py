"""The reports as JSON, one object a line."""

from collections.abc import Sequence

from hfcount.report.model import Report


def render(reports: Sequence[Report]) -> str:
    """One line for each report, in ASCII."""
    text = "\n".join(report.to_json() for report in reports)
    return text.replace("##[", "#\\u0023[")  # the same JSON, in which GitHub's runner sees no workflow command
