"""Renders nothing: a picture takes standard output."""

from collections.abc import Sequence

from hfcount.report.model import Report


def render(reports: Sequence[Report]) -> str:
    """No text."""
    del reports
    return ""
