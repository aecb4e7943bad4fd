"""Reports what a settings file did for a checkpoint."""

from collections.abc import Sequence

from hfcount.checkpoints.settings.choose import Settings
from hfcount.report.pieces import AppliedSettings, ReportedWaiver
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.policy import Policy
from hfcount.verifier.rules import RULES
from hfcount.verifier.waivers import Waiver


def applied(settings: Settings, findings: Sequence[Finding], policy: Policy) -> AppliedSettings:
    """What settings did; `policy` has those of their waivers that are not over."""
    return AppliedSettings(
        file=settings.file,
        waivers=tuple(_reported(waiver, findings, policy) for waiver in settings.waivers),
        loaders=settings.loaders or None,
        base=None if settings.base is None else printable(settings.base),
        strict=settings.strict,
        depth=settings.depth,
    )


def _reported(waiver: Waiver, findings: Sequence[Finding], policy: Policy) -> ReportedWaiver:
    is_over = waiver not in policy.waivers
    if is_over:  # what it would let through
        policy = policy._replace(waivers=(*policy.waivers, waiver))
    covered = [
        finding
        for finding in findings
        if policy.waiver_for(finding) and any(waiver.covers(part) for part in (finding, *finding.joined))
    ]
    return ReportedWaiver(
        code=waiver.code,
        name=RULES[waiver.code].name,
        reason=printable(waiver.reason),
        until=waiver.until.isoformat() if waiver.until else None,
        tensor=None if waiver.tensor is None else printable(waiver.tensor),
        path=None if waiver.path is None else printable(waiver.path),
        line=waiver.line,
        state="over" if is_over else "used" if covered else "unused",
        findings=len(covered),
    )


def summed(several: Sequence[AppliedSettings]) -> AppliedSettings:
    """The same settings, as they were applied to several parts of a checkpoint."""
    rows = zip(*(settings.waivers for settings in several), strict=True)
    return several[0].replace(waivers=tuple(map(_summed, rows)))


def _summed(rows: Sequence[ReportedWaiver]) -> ReportedWaiver:
    deciding = next((row for row in rows if row.state != "unused"), rows[0])
    return deciding.replace(findings=sum(row.findings for row in rows))
