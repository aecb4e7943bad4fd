"""Writes in sentences what a settings file did for a checkpoint."""

from collections import Counter
from collections.abc import Iterator

from hfcount.report.model import AppliedSettings, Report, Waived
from hfcount.report.pieces import ReportedWaiver


def lines(report: Report, full: bool = False) -> Iterator[str]:
    """What was set and waived, and which waivers are over; those without a finding only if `full`."""
    settings = report.settings
    if settings is None:
        return
    if waived := _waived(report):
        yield f"{waived}."
    for waiver in settings.waivers:
        if waiver.state == "over" and (waiver.findings or full):
            yield f"{_over(settings, waiver)} ({waiver.reason})."
        if waiver.state == "unused" and full:
            yield f"{_place(settings, waiver)} waives {waiver.code}, but covers no finding here ({waiver.reason})."
    if chosen := _chosen(settings):
        yield f"By {settings.file}: {chosen}."


def summary(report: Report) -> str:
    """What was waived, and which waivers are over, in a line; empty where there are none."""
    if report.settings is None:
        return ""
    over = [waiver for waiver in report.settings.waivers if waiver.state == "over" and waiver.findings]
    return "; ".join(filter(None, [_waived(report), *(_over(report.settings, waiver) for waiver in over)]))


def _over(settings: AppliedSettings, waiver: ReportedWaiver) -> str:
    return f"{_place(settings, waiver)} no longer waives {waiver.code}, which it did until {waiver.until}"


def _waived(report: Report) -> str:
    """`1 waived by pyproject.toml: known, until 2027-01-01`; empty where nothing is."""
    reasons = Counter(reason(finding.waived) for finding in report.findings if finding.waived)
    if report.settings is None or not reasons:
        return ""
    return f"{reasons.total():,} waived by {report.settings.file}: {'; '.join(reasons)}"


def reason(waived: Waived) -> str:
    """`known, until 2027-01-01`."""
    return f"{waived.reason}, until {waived.until}" if waived.until else waived.reason


def source(waived: Waived) -> str:
    """`Waived by pyproject.toml:12: known, until 2027-01-01`."""
    place = waived.file if waived.line is None else f"{waived.file}:{waived.line}"
    return f"Waived by {place}: {reason(waived)}"


def _place(settings: AppliedSettings, waiver: ReportedWaiver) -> str:
    return settings.file if waiver.line is None else f"{settings.file}:{waiver.line}"


def _chosen(settings: AppliedSettings) -> str:
    """The options that the file sets, as they are on the command line."""
    options = [f"--for {name}" for name in settings.loaders or ()]
    options += [f"--base {settings.base}"] if settings.base is not None else []
    options += [f"--depth {settings.depth}"] if settings.depth is not None else []
    options += [] if settings.strict is None else ["--strict" if settings.strict else "--no-strict"]
    return " ".join(options)
