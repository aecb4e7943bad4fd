"""Renders reports as the JSON of a badge, for the endpoint badge of shields.io (shields.io/badges/endpoint-badge)."""

import json
from collections.abc import Sequence

from hfcount.report.model import Report
from hfcount.report.renderers.fitting import refusal
from hfcount.report.renderers.text import outcome, tally

_COLOURS = {
    "mismatch": "red",
    "unverified": "lightgrey",
    "allowed": "yellow",
    "explained": "green",
    "verified": "brightgreen",
    "counted": "blue",
}
"""By outcome, the worst first."""


def render(reports: Sequence[Report]) -> str:
    """One object: the outcome of one model, or the tally of several; red if the exit code is 1."""
    outcomes = [outcome(report) for report in reports]
    worst = next((name for name in _COLOURS if name in outcomes), "unverified")
    failed = any(report.exit_code == 1 for report in reports)
    badge = {
        "schemaVersion": 1,
        "label": "hfcount",
        "message": f"{worst}{refusal(reports[0])}" if len(reports) == 1 else tally(reports),
        "color": _COLOURS["mismatch" if failed else worst],
    }
    return json.dumps(badge | ({"isError": True} if failed else {}))
