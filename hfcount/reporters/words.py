"""The sentences that all reporters share."""

from hfcount.report import Report
from hfcount.text import plural


def verdict(report: Report) -> str:
    """The verdict in words, such as `verified: 8 parameters = 16 bytes / 2`."""
    return f"{report.verdict}: {_because(report)}"


def share(part: int, whole: int) -> str:
    """A percentage that never rounds something to nothing."""
    if not part or not whole:
        return "0 %"
    percent = 100 * part / whole
    return "< 0.1 %" if percent < 0.1 else f"{percent:.1f} %"


def origin(report: Report) -> str:
    """Family, class, dtype, source and commit, in one line."""
    parts = (
        report.family,
        report.architecture if report.architecture else None,
        report.dtype or ("no dtype" if report.family else None),
        report.source,
        f"commit {report.revision[:12]}" if report.revision else None,
    )
    return " · ".join(part for part in parts if part)


def remarks(report: Report) -> list[str]:
    """What a reader should know beside the findings: why headers were read, and files that nobody names."""
    found = []
    if report.depth == "headers" and report.depth_reason:
        found.append(f"The headers were read, since {report.depth_reason}.")
    unlisted = report.evidence.unlisted if report.evidence else ()
    if unlisted:
        shown = ", ".join(unlisted[:3]) + (f" and {len(unlisted) - 3:,} more" if len(unlisted) > 3 else "")
        found.append(f"Beside the index there is {plural(len(unlisted), 'file')} that it does not name: {shown}.")
    return found


def _because(report: Report) -> str:
    total = report.parameters.total if report.parameters else None
    errors = [finding for finding in report.findings if finding.severity == "error"]
    if report.verdict == "mismatch":
        codes = ", ".join(f"{finding.code} {finding.name}" for finding in errors)
        return f"{plural(len(errors), 'error')} ({codes})"
    if report.verdict == "unverified":
        return _unproven(report)
    size = report.evidence.total_size if report.evidence else None
    counted = f"{total:,} parameters"
    if report.verdict == "verified":
        exact = total is not None and size is not None and report.parameters and report.parameters.stored == total
        if exact and total and size and size % total == 0:
            return f"{counted} = {size:,} bytes / {size // total}"
        return f"{counted}, and every byte is accounted for"
    notes = [finding for finding in report.findings if finding.code != "HF102"]
    ways = ", ".join(f"{finding.code} {finding.name}" for finding in notes)
    return f"{counted}; every difference is a known, harmless one ({ways})"


def _unproven(report: Report) -> str:
    if report.error:
        return report.error.message
    if report.depth == "config":
        return "counted from the config alone, as asked"
    if report.asides:
        parts = "; ".join(f"{prefix}: {why}" for prefix, why in report.asides.items())
        return f"what is described agrees with what was read; not described is {parts}"
    reasons = [finding for finding in report.findings if finding.code in ("HF501", "HF402")]
    names = ", ".join(f"{finding.code} {finding.name}" for finding in reasons)
    return f"counted, but nothing in reach proves the bytes{f' ({names})' if names else ''}"
