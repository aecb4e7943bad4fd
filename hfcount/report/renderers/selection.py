"""Selects which parts of several reports to show."""

from collections.abc import Sequence

from hfcount.report.model import Report, ReportedFinding


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


def deciding(report: Report) -> list[ReportedFinding]:
    """The findings that the verdict is about: errors, or notes if there are none; the first of each code."""
    errors = [finding for finding in report.findings if finding.severity == "error"]
    notes = [finding for finding in report.findings if not finding.rule.informational]
    return list({finding.code: finding for finding in reversed(errors or notes)}.values())[::-1]


def failing_first(reports: Sequence[Report]) -> list[Report]:
    """The reports as they are read: what exits with 1, then what could not be verified, then the others in order."""
    return sorted(reports, key=lambda report: (1, 3, 0).index(report.exit_code))
