"""Renders what serving a model takes; of several models the usual table."""

from collections.abc import Sequence

from hfcount.report.model import Report
from hfcount.report.renderers import table


def render(reports: Sequence[Report]) -> str:
    """The text: of a model its verdict, what is found, and what serving takes."""
    return table.served(reports)
