"""Renders the reasons of a failed verification, for exception messages."""

from hfcount.report.model import Report, ReportedFinding
from hfcount.report.renderers.headline import cure
from hfcount.report.renderers.text import verdict
from hfcount.text import printable

_MOST = 5  # findings in full
_LONGEST = 500  # characters of a message or its cure


def reasons(report: Report) -> str:
    """The verdict and what it is about: `m: mismatch: 1 error (HF301 shape-differs): 1 tensor ... Set vocab_size to 9.`

    Several findings have a line each, the first few of them in full.
    """
    findings = [finding for finding in report.findings if not finding.rule.informational]
    findings = [finding for finding in findings if finding.severity == "error"] or findings
    head = f"{report.label}: {verdict(report)}"
    if len(findings) == 1:
        return f"{head}: {_message(findings[0])}"
    lines = [f"  {finding.code} {finding.name}: {_message(finding)}" for finding in findings[:_MOST]]
    if left := findings[_MOST:]:
        lines.append(f"  and {len(left):,} more: {', '.join(dict.fromkeys(finding.code for finding in left))}")
    return "\n".join([f"{head}:" if lines else head, *lines])


def _message(finding: ReportedFinding) -> str:
    """The message, of which the cure is never cut off."""
    message, fix = (printable(part, _LONGEST) for part in cure(finding))
    return f"{message} {fix}".rstrip()
