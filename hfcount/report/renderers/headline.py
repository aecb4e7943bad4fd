"""Renders the first lines of a report: size, depth, and findings with their fix."""

from collections.abc import Mapping

from hfcount.report.model import Report, ReportedFinding
from hfcount.report.renderers.amounts import binary, short
from hfcount.report.renderers.depth import looked
from hfcount.text import plural, printable


def sized(report: Report) -> str:
    """`32.8 B parameters (BF16: 2 bytes each), 61.02 GiB`; empty where the parameters are unknown."""
    counts, memory = report.parameters, report.memory
    if counts is None or counts.total is None:
        return ""
    text = f"{short(counts.total)} parameters"
    if counts.active not in (None, counts.total):
        text += f", {short(counts.active or 0)} active"
    if memory is None or not memory.weights_bytes:
        return text
    return f"{text}{_stored(counts.total, memory.weights_bytes, memory.weights or {})}, {binary(memory.weights_bytes)}"


def _stored(total: int, size: int, dtypes: Mapping[str, int]) -> str:
    """` (BF16: 2 bytes each)`, or ` (F8_E4M3, BF16)`."""
    if len(dtypes) == 1 and total and size % total == 0:
        return f" ({next(iter(dtypes))}: {plural(size // total, 'byte')} each)"
    return f" ({', '.join(dtypes)})" if dtypes else ""


def compared(report: Report) -> str:
    """What was compared or read, as the start of a sentence."""
    text = looked(report)
    return f"{'Compared' if report.checks else 'Read'}: {text}" if text else ""


def cure(finding: ReportedFinding) -> tuple[str, str]:
    """The message of a finding without its fix, and the fix."""
    fix = printable(finding.fix, None) if finding.fix else ""
    if not fix or finding.message == fix:
        return finding.message, ""
    return finding.message.removesuffix(fix).rstrip(), fix if finding.message.endswith(fix) else ""
