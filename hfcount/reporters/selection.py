"""What is shown of several reports: verdicts in a row each, some in full, and the models side by side."""

from collections.abc import Sequence

from hfcount.report.model import Report


def judged(reports: Sequence[Report]) -> bool:
    """Whether there are verdicts to list: several, and not all of them counted and no more."""
    return len(reports) > 1 and any(report.depth != "config" or report.exit_code for report in reports)


def in_full(reports: Sequence[Report]) -> list[Report]:
    """A model alone, and of several those that fail or were asked about."""
    return [report for report in reports if len(reports) == 1 or report.exit_code or report.formula or report.tensors]


def comparable(reports: Sequence[Report]) -> bool:
    """Whether there are models to compare: several that were counted."""
    return sum(bool(report.components) for report in reports) > 1
