"""The report of a pipeline: its parts, and one verdict, one sum and one list of findings for all of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

from hfcount.checkpoints.inspection import Options
from hfcount.checkpoints.report import reported, verdict, waived
from hfcount.fetcher.interface import Documents
from hfcount.options import Depth
from hfcount.report.figures import ComponentCount, Failure, Location, Parameters, TensorStatistics
from hfcount.report.model import (
    Allowed,
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


class Listed(NamedTuple):
    """What model_index.json lists, and what is known of it.

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


class Whole(NamedTuple):
    """What belongs to no part: the class of the pipeline, findings about several parts, and answers about serving."""

    kind: str | None
    findings: Sequence[Finding] = ()
    beside: tuple[Beside, ...] = ()
    serving: Serving | None = None
    available: int | None = None


def combined(documents: Documents, options: Options, whole: Whole, listed: Sequence[Listed]) -> Report:
    """The report of a pipeline."""
    policy = options.policy
    parts = tuple(map(_part, listed))
    reports = [one.report for one in listed if one.report is not None]  # a mismatch is false
    own = reported(whole.findings, policy, documents)
    findings = [*own, *(_named(one.name, finding) for one in parts for finding in one.findings)]
    findings.sort(key=lambda one: one.severity)  # an error comes before a note
    verdicts = [verdict(whole.findings, policy, True, True), *(one.verdict for one in parts)]
    return Report(
        model=printable(documents.model),
        revision=documents.revision,
        source=documents.source,
        architecture=printable(whole.kind) if whole.kind else None,
        dtype=_alike(one.dtype for one in parts if one.parameters),
        depth=_depth(parts),
        verdict=next((one for one in _WORST if one in verdicts), "verified"),
        parameters=_sum(parts),
        components=tuple(_component(one) for one in parts if one.parameters),
        evidence=_evidence([one.evidence for one in parts if one.evidence]),
        not_looked_at=tuple(_merged((*whole.beside, *_together(parts)))),
        checks=tuple(_checks(parts)),
        findings=tuple(findings),
        allowed=_allowed([waived(whole.findings, policy), *(one.allowed for one in reports)]),
        memory=_memory(parts, whole),
        serving=whole.serving,
        error=_failure(parts),
        parts=parts,
        statistics=_statistics(listed),
    )


def _part(listed: Listed) -> PipelinePart:
    report, kind = listed.report, printable(listed.kind)
    part = PipelinePart(
        name=listed.name,
        library=printable(listed.library),
        class_name=kind,
        verdict="mismatch" if listed.absent else None,
    )
    if report is None:
        return part
    known = [one.name for one in fields(Report) if one.name in {one.name for one in fields(part)}]
    return replace(part, **{name: getattr(report, name) for name in known} | {"memory": _weights(report.memory)})


def _statistics(listed: Sequence[Listed]) -> tuple[TensorStatistics, ...] | None:
    """Those of all parts, named by their paths; None where no values were read."""
    several = [
        (one.name, one.report.statistics)
        for one in listed
        if one.report is not None and one.report.statistics is not None
    ]
    if not several:
        return None
    return tuple(
        replace(row, name=f"{part}/{row.name}", file=f"{part}/{row.file}") for part, rows in several for row in rows
    )


def _weights(memory: Memory | None) -> Memory | None:
    """What the weights take: parts of a pipeline are no models that are served by themselves."""
    if memory is None:
        return None
    return Memory(weights_bytes=memory.weights_bytes, weights=memory.weights, weights_why=memory.weights_why)


def _named(part: str, finding: ReportedFinding) -> ReportedFinding:
    """A finding of a part as one of the whole."""
    place = finding.location
    return replace(
        finding,
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
    looks = {one.depth for one in parts}
    depths: tuple[Depth, ...] = ("data", "headers", "index")
    return next((depth for depth in depths if depth in looks), "config")


def _total(values: Iterable[int | None]) -> int | None:
    """A sum; None where one is unknown, or there are none."""
    known = [*values]
    return sum(one or 0 for one in known) if known and None not in known else None


def _sum(parts: Sequence[PipelinePart]) -> Parameters:
    """Parameters of all parts that hold weights."""
    counts = [one.parameters for one in parts if one.verdict]
    total = _total(one.total if one else None for one in counts)
    stored = _total(one.stored if one else None for one in counts)
    return Parameters(total=total, active=total, active_without_embedding=None, stored=stored)


def _component(part: PipelinePart) -> ComponentCount:
    known = sum(one.total for one in part.components)
    total = part.parameters.total if part.parameters and part.parameters.total is not None else known
    return ComponentCount(name=part.name, total=total, active=total)


def _memory(parts: Sequence[PipelinePart], whole: Whole) -> Memory:
    weighty = [one for one in parts if one.verdict]
    sizes = Counter[str]()
    for one in weighty:
        sizes.update((one.memory.weights if one.memory else None) or {})
    total = _total(one.memory.weights_bytes if one.memory else None for one in weighty)
    lacking = [one.name for one in weighty if one.memory is None or one.memory.weights_bytes is None]
    why = f"the bytes of {', '.join(lacking)} are not known" if lacking else None
    return Memory(
        weights_bytes=total,
        weights=dict(sizes) if total is not None else None,
        weights_why=why,
        available_bytes=whole.available,
        fits=whole.serving.fits if whole.serving else None,
    )


def _evidence(several: Sequence[Evidence]) -> Evidence | None:
    if not several:
        return None
    dtypes = Counter[str]()
    for one in several:
        dtypes.update(one.dtypes or {})
    files = [one.files for one in several if one.files]
    return Evidence(
        tensors=_total(one.tensors for one in several),
        shards=_total(one.shards for one in several),
        dtypes=dict(dtypes) or None,
        files=Files(
            named=sum(one.named for one in files),
            found=_total(one.found for one in files),
            sized=sum(one.sized for one in files),
            opened=sum(one.opened for one in files),
        )
        if files
        else None,
    )


def _together(parts: Sequence[PipelinePart]) -> Iterator[Beside]:
    """What lies beside the weights of the parts, by kind, as paths below the pipeline."""
    for kind in dict.fromkeys(beside.kind for part in parts for beside in part.not_looked_at):
        found = [(part.name, one) for part in parts for one in part.not_looked_at if one.kind == kind]
        names = tuple(f"{name}/{file}" for name, one in found for file in one.files)
        yield Beside(kind=kind, count=sum(one.count for _, one in found), files=names[:100])


def _merged(several: Iterable[Beside]) -> Iterator[Beside]:
    """The same with one row for each kind."""
    kinds: dict[str, list[Beside]] = {}
    for one in several:
        kinds.setdefault(one.kind, []).append(one)
    for kind, some in kinds.items():
        names = tuple(name for one in some for name in one.files)
        yield Beside(kind=kind, count=sum(one.count for one in some), files=names[:100])


def _checks(parts: Sequence[PipelinePart]) -> Iterator[ReportedCheck]:
    """The checks of all parts, summed by name."""
    for name in dict.fromkeys(check.name for part in parts for check in part.checks):
        some = [check for part in parts for check in part.checks if check.name == name]
        yield ReportedCheck(
            name=name,
            expected=sum(one.expected for one in some),
            observed=sum(one.observed for one in some),
            agrees=all(one.agrees for one in some),
            text=f"in {plural(len(some), 'part')}",
        )


def _allowed(several: Iterable[Sequence[Allowed]]) -> tuple[Allowed, ...]:
    counts = Counter[tuple[str, str]]()
    for some in several:
        for one in some:
            counts[one.code, one.name] += one.count
    return tuple(Allowed(code=code, name=name, count=count) for (code, name), count in counts.items())


def _failure(parts: Sequence[PipelinePart]) -> Failure | None:
    """Why parts could not be judged."""
    failed = {f"{one.name} ({one.class_name})": one.error.kind for one in parts if one.error}
    if not failed:
        return None
    many = sum(one.verdict is not None for one in parts)
    message = f"{len(failed):,} of {plural(many, 'part')} could not be judged: {', '.join(failed)}."
    return Failure(kind=_alike(failed.values()) or "PartsNotVerified", message=message)
