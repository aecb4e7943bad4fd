"""Selects which parts of several reports to show."""

from collections.abc import Sequence

from hfcount.report.model import Report


def judged(reports: Sequence[Report]) -> bool:
    """Whether to list verdicts: there are several, and not all reports only count."""
    return len(reports) > 1 and any(report.depth != "config" or report.exit_code for report in reports)


def in_full(reports: Sequence[Report]) -> list[Report]:
    """The reports to show in full: a single one; of several, those that fail or were asked about."""
    return [report for report in reports if len(reports) == 1 or report.exit_code or report.formula or report.tensors]


def sparse(reports: Sequence[Report]) -> bool:
    """Whether a token passes through fewer parameters than there are, in some model."""
    return any(part.active not in (None, part.total) for report in reports for part in report.components)


def comparable(reports: Sequence[Report]) -> bool:
    """Whether to compare models: several were counted."""
    return sum(bool(report.components) for report in reports) > 1
