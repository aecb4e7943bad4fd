"""Combines the reports of a pipeline's parts: one verdict, one sum, one list of findings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hfcount.checkpoints.inspection import Options
from hfcount.checkpoints.report import reported, settings_of, verdict, waived
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import MODEL_INDEX
from hfcount.options import Depth
from hfcount.report.figures import ComponentCount, Failure, Location, Parameters, TensorStatistics
from hfcount.report.model import (
    Allowed,
    AppliedSettings,
    Beside,
    Evidence,
    Files,
    PipelinePart,
    Report,
    ReportedCheck,
    ReportedFinding,
    Verdict,
)
from hfcount.report.serving import Memory, Serving
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding

_WORST: tuple[Verdict, ...] = ("mismatch", "unverified", "allowed", "explained")


class ListedPart(NamedTuple):
    """A part that model_index.json lists, with its report.

    Args:
        name, library, kind: of the part, and of its class.
        report: of a part with weights; None for one that holds none, or of which nothing was found.
        absent: whether what it is loaded from is not there.
    """

    name: str
    library: str
    kind: str
    report: Report | None = None
    absent: bool = False


class SharedResults(NamedTuple):
    """The class of a pipeline, findings about several parts, and answers about serving."""

    kind: str | None
    findings: Sequence[Finding] = ()
    beside: tuple[Beside, ...] = ()
    serving: Serving | None = None
    available: int | None = None


def combined(documents: Documents, options: Options, shared: SharedResults, listed: Sequence[ListedPart]) -> Report:
    """The report of a pipeline."""
    policy = options.policy
    parts = tuple(map(_part, listed))
    reports = [entry.report for entry in listed if entry.report is not None]  # a mismatch is false
    common = reported(shared.findings, policy, documents)
    findings = [*common, *(_named(part.name, finding) for part in parts for finding in part.findings)]
    findings.sort(key=lambda finding: finding.severity)  # an error comes before a note
    verdicts = [verdict(shared.findings, policy, True, True), *(part.verdict for part in parts)]
    overall: Verdict = next((part for part in _WORST if part in verdicts), "verified")
    return Report(
        model=printable(documents.model),
        revision=documents.revision,
        source=documents.source,
        architecture=printable(shared.kind) if shared.kind else None,
        dtype=_alike(part.dtype for part in parts if part.parameters),
        depth=_depth(parts),
        verdict=overall,
        parameters=_sum(parts),
        components=tuple(_component(part) for part in parts if part.parameters),
        evidence=_evidence([part.evidence for part in parts if part.evidence]),
        not_looked_at=tuple(_merged((*shared.beside, *_together(parts)))),
        checks=tuple(_checks(parts)),
        findings=tuple(findings),
        allowed=_allowed([waived(shared.findings, policy), *(report.allowed for report in reports)]),
        memory=_memory(parts, shared),
        serving=shared.serving,
        error=_failure(parts) or (_nothing(parts, options) if overall == "unverified" else None),
        parts=parts,
        statistics=_statistics(listed),
        settings=_settings([settings_of(options, shared.findings, policy), *(report.settings for report in reports)]),
    )


def _part(listed: ListedPart) -> PipelinePart:
    report, kind = listed.report, printable(listed.kind)
    part = PipelinePart(
        name=listed.name,
        library=printable(listed.library),
        class_name=kind,
        verdict="mismatch" if listed.absent else None,
    )
    if report is None:
        return part
    known = [name for name in Report._fields if name in PipelinePart._fields]
    return part.replace(**{name: getattr(report, name) for name in known} | {"memory": _weights(report.memory)})


def _statistics(listed: Sequence[ListedPart]) -> tuple[TensorStatistics, ...] | None:
    """Those of all parts, named by their paths; None where no values were read."""
    several = [
        (entry.name, entry.report.statistics)
        for entry in listed
        if entry.report is not None and entry.report.statistics is not None
    ]
    if not several:
        return None
    return tuple(
        row.replace(name=f"{part}/{row.name}", file=f"{part}/{row.file}") for part, rows in several for row in rows
    )


def _weights(memory: Memory | None) -> Memory | None:
    """Bytes of the weights alone: a part of a pipeline is not served by itself."""
    if memory is None:
        return None
    return Memory(weights_bytes=memory.weights_bytes, weights=memory.weights, weights_why=memory.weights_why)


def _named(part: str, finding: ReportedFinding) -> ReportedFinding:
    """A finding of a part as one of the whole."""
    place = finding.location
    return finding.replace(
        part=part,
        message=f"{part}: {finding.message}",
        file=f"{part}/{finding.file}" if finding.file else None,
        location=Location(file=f"{part}/{place.file}", line=place.line) if place else None,
    )


def _alike(values: Iterable[str | None]) -> str | None:
    """The value that all have; None where they differ."""
    several = {*values}
    return several.pop() if len(several) == 1 else None


def _depth(parts: Sequence[PipelinePart]) -> Depth:
    """The furthest look that was taken into any part."""
    looks = {part.depth for part in parts}
    depths: tuple[Depth, ...] = ("data", "headers", "index")
    return next((depth for depth in depths if depth in looks), "config")


def _total(values: Iterable[int | None]) -> int | None:
    """A sum; None where one is unknown, or there are none."""
    known = [*values]
    return sum(number or 0 for number in known) if known and None not in known else None


def _sum(parts: Sequence[PipelinePart]) -> Parameters:
    """Parameters of all parts that hold weights."""
    counts = [part.parameters for part in parts if part.verdict]
    total = _total(count.total if count else None for count in counts)
    stored = _total(count.stored if count else None for count in counts)
    return Parameters(total=total, active=total, active_without_embedding=None, stored=stored)


def _component(part: PipelinePart) -> ComponentCount:
    known = sum(component.total for component in part.components)
    total = part.parameters.total if part.parameters and part.parameters.total is not None else known
    return ComponentCount(name=part.name, total=total, active=total)


def _memory(parts: Sequence[PipelinePart], shared: SharedResults) -> Memory:
    weighty = [part for part in parts if part.verdict]
    sizes = Counter[str]()
    for part in weighty:
        sizes.update((part.memory.weights if part.memory else None) or {})
    total = _total(part.memory.weights_bytes if part.memory else None for part in weighty)
    lacking = [part.name for part in weighty if part.memory is None or part.memory.weights_bytes is None]
    why = f"the bytes of {', '.join(lacking)} are not known" if lacking else None
    return Memory(
        weights_bytes=total,
        weights=dict(sizes) if total is not None else None,
        weights_why=why,
        available_bytes=shared.available,
        fits=shared.serving.fits if shared.serving else None,
    )


def _evidence(several: Sequence[Evidence]) -> Evidence | None:
    if not several:
        return None
    dtypes = Counter[str]()
    for evidence in several:
        dtypes.update(evidence.dtypes or {})
    files = [evidence.files for evidence in several if evidence.files]
    return Evidence(
        tensors=_total(evidence.tensors for evidence in several),
        shards=_total(evidence.shards for evidence in several),
        dtypes=dict(dtypes) or None,
        files=Files(
            named=sum(read.named for read in files),
            found=_total(read.found for read in files),
            sized=sum(read.sized for read in files),
            opened=sum(read.opened for read in files),
        )
        if files
        else None,
    )


def _together(parts: Sequence[PipelinePart]) -> Iterator[Beside]:
    """Files of the parts that were not read, by kind, as paths below the pipeline, whose tokenizers are parts."""
    for kind in dict.fromkeys(beside.kind for part in parts for beside in part.not_looked_at if beside.count):
        rows = [(part.name, row) for part in parts for row in part.not_looked_at if row.kind == kind]
        names = tuple(f"{name}/{file}" for name, row in rows for file in row.files)
        yield Beside(kind=kind, count=sum(row.count for _, row in rows), files=names[:100])


def _merged(several: Iterable[Beside]) -> Iterator[Beside]:
    """The same with one row for each kind."""
    kinds: dict[str, list[Beside]] = {}
    for row in several:
        kinds.setdefault(row.kind, []).append(row)
    for kind, some in kinds.items():
        names = tuple(name for row in some for name in row.files)
        yield Beside(kind=kind, count=sum(row.count for row in some), files=names[:100])


def _checks(parts: Sequence[PipelinePart]) -> Iterator[ReportedCheck]:
    """The checks of all parts, summed by name."""
    for name in dict.fromkeys(check.name for part in parts for check in part.checks):
        some = [check for part in parts for check in part.checks if check.name == name]
        yield ReportedCheck(
            name=name,
            expected=sum(check.expected for check in some),
            observed=sum(check.observed for check in some),
            agrees=all(check.agrees for check in some),
            text=f"in {plural(len(some), 'part')}",
        )


def _allowed(several: Iterable[Sequence[Allowed]]) -> tuple[Allowed, ...]:
    counts = Counter[tuple[str, str]]()
    for some in several:
        for rule in some:
            counts[rule.code, rule.name] += rule.count
    return tuple(Allowed(code=code, name=name, count=count) for (code, name), count in counts.items())


def _settings(several: Sequence[AppliedSettings | None]) -> AppliedSettings | None:
    """What the settings file did in all parts."""
    known = [settings for settings in several if settings is not None]
    if not known:
        return None
    from hfcount.checkpoints.settings.applied import summed

    return summed(known)


def _nothing(parts: Sequence[PipelinePart], options: Options) -> Failure | None:
    """What is said of a pipeline none of whose parts holds weights, where more than a count was asked for."""
    if options.depth == "config" or any(part.verdict for part in parts):
        return None
    return Failure(
        kind="NotCompared", message=f"{MODEL_INDEX} lists no part that has weights: there is nothing to compare."
    )


def _failure(parts: Sequence[PipelinePart]) -> Failure | None:
    """Why parts could not be judged."""
    failed = {f"{part.name} ({part.class_name})": part.error.kind for part in parts if part.error}
    if not failed:
        return None
    many = sum(part.verdict is not None for part in parts)
    message = f"{len(failed):,} of {plural(many, 'part')} could not be checked: {', '.join(failed)}."
    return Failure(kind=_alike(failed.values()) or "PartsNotVerified", message=message)
