"""The report of an inspection: a copy of what its stages made."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal

from hfcount.checkpoints import loaders
from hfcount.checkpoints.figures import figures_of
from hfcount.checkpoints.inspection import Inspection, Options
from hfcount.checkpoints.published import file_checks, published, unread
from hfcount.errors import Value
from hfcount.fetcher.interface import Documents
from hfcount.report.figures import Location, ModuleRow
from hfcount.report.model import (
    Allowed,
    AppliedSettings,
    Report,
    ReportedCheck,
    ReportedFinding,
    ReportedLoader,
    Verdict,
    Waived,
)
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Check, ModuleResult
from hfcount.verifier.loaders.loader import Checkpoint, Reading
from hfcount.verifier.policy import Policy

if TYPE_CHECKING:
    from hfcount.verifier.waivers import Waiver


_COMPARED = frozenset({"HF501"})
"""The findings of tensors that were not compared, since it is not known how they are stored, but by loaders."""


def report_of(inspection: Inspection) -> Report:
    """The report of an inspection, with all that follows from it."""
    blueprint, untied = inspection.blueprint, inspection.outcome.untied
    if blueprint and untied:  # it is counted as it is loaded
        inspection = inspection._replace(blueprint=blueprint.replace(untied=untied))
    figures, findings = figures_of(inspection)
    documents, evidence, outcome = inspection.documents, inspection.evidence, inspection.outcome
    policy, asked = inspection.options.policy, inspection.options.loaders
    compared = _is_compared(inspection)
    read_by = loaders.read(inspection, findings, _agrees(findings, compared, outcome.proven))
    judges = loaders.judged(read_by, asked)
    findings = sorted(
        [*loaders.naming(findings, read_by), *loaders.refusals(judges, findings, bool(asked))],
        key=lambda finding: finding.severity != "error",
    )
    policy = loaders.policy_for(policy, judges, findings) if asked else policy
    outcomes = {reading.outcome for reading in judges} if asked else set()
    settled = outcomes == {"whole"} and all(reading.evidence != "none" for reading in judges)  # who compared it, too
    closed = _COMPARED | policy.elsewhere if settled else frozenset[str]()
    files = published(inspection)
    proven = outcomes == {"whole"} or (outcome.proven and "unknown" not in outcomes)
    return Report(
        model=printable(documents.model),
        revision=documents.revision,
        source=documents.source,
        container=evidence.container,
        depth=evidence.depth,
        depth_reason=evidence.depth_reason,
        verdict=verdict(findings, policy, compared or settled, proven, closed),
        checks=(*file_checks(files, evidence.headers or {}, findings), *map(_check, outcome.checks)),
        findings=reported(findings, policy, documents),
        allowed=waived(findings, policy),
        loaders=tuple(map(_loader, read_by)),
        read_for=tuple(loader.label for loader in asked) or None,
        error=evidence.unseen,
        evidence=files,
        not_looked_at=unread(inspection),
        overrides=dict(inspection.changes) or None,
        variants=evidence.variants or None,
        adapter=evidence.adapter,
        modules=tuple(map(_module, outcome.modules)) or None,
        statistics=evidence.statistics,
        target=None if inspection.target is None else printable(inspection.target),
        settings=settings_of(inspection.options, findings, policy),
        **figures._asdict(),
    )


def _check(check: Check) -> ReportedCheck:
    return ReportedCheck(
        name=check.name, expected=check.expected, observed=check.observed, agrees=check.agrees, text=check.text
    )


def findings_of(inspection: Inspection) -> list[Finding]:
    """The findings of an inspection, and those of home loaders, and loaders asked for, that do not take it whole."""
    found, asked = inspection.outcome.findings, inspection.options.loaders
    read_by = readings_of(inspection)
    refused = loaders.refusals([reading for reading in read_by if reading.loader in asked], found, True)
    others = loaders.judged([reading for reading in read_by if reading.loader not in asked], ())
    return [*found, *refused, *loaders.refusals(others, found, False)]


def readings_of(inspection: Inspection) -> list[Reading]:
    """What each loader makes of an inspected checkpoint, the home loaders first."""
    return loaders.read(inspection, inspection.outcome.findings, _is_as_its_config(inspection))


def checkpoint_of(inspection: Inspection) -> Checkpoint:
    """An inspected checkpoint as loaders look at it."""
    return loaders.checkpoint_of(inspection, inspection.outcome.findings, _is_as_its_config(inspection))


def _is_as_its_config(inspection: Inspection) -> bool | None:
    outcome = inspection.outcome
    return _agrees(outcome.findings, _is_compared(inspection), outcome.proven)


def _agrees(findings: Sequence[Finding], compared: bool, proven: bool) -> bool | None:
    """Whether a checkpoint is as its config says, so that it loads, of use or not; None if that is not known."""
    loaded = [finding for finding in findings if finding.proof != "doubted" and finding.code != "HF214"]
    proven = proven or any(finding.code == "HF214" for finding in findings)  # the newest ties the head that lacks
    return {"mismatch": False, "unverified": None}.get(verdict(loaded, Policy(), compared, proven), True)


def _loader(reading: Reading) -> ReportedLoader:
    return ReportedLoader(
        loader=reading.loader.library,
        version=reading.loader.version,
        home=reading.home,
        outcome=reading.outcome,
        findings=reading.findings,
        says=printable(reading.says, None),
        evidence=reading.evidence,
        source=reading.source,
    )


def _is_compared(inspection: Inspection) -> bool:
    """Whether all that is to be judged was compared with its config or with its own metadata."""
    described = inspection.blueprint is not None and not inspection.blueprint.unmodeled
    compared = described or inspection.evidence.contained is not None
    return compared and inspection.evidence.unseen is None and inspection.evidence.depth != "config"


def _module(result: ModuleResult) -> ModuleRow:
    verdicts: dict[bool | None, Literal["verified", "mismatch", "unverified"]]
    verdicts = {None: "unverified", True: "verified", False: "mismatch"}
    return ModuleRow(
        path=printable(result.path),
        kind=printable(result.kind),
        verdict=verdicts[result.agrees],
        parameters=result.parameters,
        tensors=result.tensors,
        width=result.width,
    )


def reported(findings: Sequence[Finding], policy: Policy, documents: Documents) -> tuple[ReportedFinding, ...]:
    """Findings as a report has them, with their places in the documents."""
    if not findings:
        return ()
    from hfcount.checkpoints.locations import location  # a sound checkpoint needs none

    return tuple(_finding(finding, policy, location(finding, documents)) for finding in findings)


def waived(findings: Sequence[Finding], policy: Policy) -> tuple[Allowed, ...]:
    """The findings that --allow or a settings file waives, counted by code."""
    counts = Counter(
        (rule.code, rule.name) for finding in findings if policy.waives(finding) for rule in (finding, *finding.joined)
    )
    return tuple(Allowed(code=code, name=name, count=count) for (code, name), count in counts.items())


def settings_of(options: Options, findings: Sequence[Finding], policy: Policy) -> AppliedSettings | None:
    """What the settings file did; None without one."""
    if options.settings is None:
        return None
    from hfcount.checkpoints.settings.applied import applied  # few checkpoints have one

    return applied(options.settings, findings, policy)


def _waived(waiver: "Waiver | None") -> Waived | None:
    if waiver is None:
        return None
    until = waiver.until.isoformat() if waiver.until else None
    return Waived(reason=printable(waiver.reason), until=until, file=waiver.file, line=waiver.line)


def _finding(finding: Finding, policy: Policy, location: Location) -> ReportedFinding:
    """A finding as a report has it; an error whose sentences do not say what to do says what its rule advises."""
    if finding.advises and finding.severity == "error" and finding.fix is None and finding.cause is None:
        finding = finding.replace(fix=finding.remedy)
    return ReportedFinding(
        code=finding.code,
        name=finding.name,
        severity=policy.severity(finding),
        message=finding.message,
        tensors=finding.rows,
        count=finding.count,
        parameters=finding.parameters,
        bytes=finding.bytes,
        expected=_safe(finding.expected),
        observed=_safe(finding.observed),
        key=printable(finding.key) if finding.key else None,
        file=printable(finding.file) if finding.file else None,
        fix=finding.fix,
        parts=finding.parts[:100],
        also=tuple(joined.code for joined in finding.joined),
        variant=finding.variant,
        location=location,
        url=finding.url,
        part=finding.part,
        waived=_waived(policy.waiver_for(finding)) if policy.waivers else None,
    )


def _safe(value: Value) -> Value:
    """The value with foreign text escaped and shortened."""
    if isinstance(value, tuple):
        return tuple(map(printable, value)) if value and isinstance(value[0], str) else value
    return printable(value) if isinstance(value, str) else value


def verdict(
    findings: Sequence[Finding],
    policy: Policy,
    compared: bool,
    proven: bool,
    settled: Collection[str] = (),
) -> Verdict:
    """The verdict on what was found.

    Args:
        compared: whether all that is to be judged was compared; proven: whether the bytes were.
        settled: codes of findings that leave nothing open.
    """
    judged = [finding for finding in findings if not finding.of_serving]
    proofs = {finding.proof for finding in judged if not policy.waives(finding) and finding.code not in settled}
    waived = any(map(policy.waives, judged))
    if any(policy.severity(finding) == "error" for finding in judged):
        return "mismatch"
    # An error that is let through may be why nothing proves the bytes; any other reason stands.
    if (
        not compared
        or not {"lost", "doubted"}.isdisjoint(proofs)
        or not (proven or (waived and "weakened" not in proofs))
    ):
        return "unverified"
    if waived:
        return "allowed"
    return "explained" if any(not finding.informational for finding in judged) else "verified"
