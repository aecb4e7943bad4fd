"""Sentences and table rows shared by all renderers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from hfcount.fetcher.unread_files import CODE, ORIGINALS, TRAINING
from hfcount.report.figures import AdapterFigures, ClosedForm, FormulaPart, Storage
from hfcount.report.model import Report, ReportedFinding, Verdict
from hfcount.report.renderers import settings
from hfcount.report.renderers.amounts import binary
from hfcount.report.renderers.depth import HELD, listed
from hfcount.report.renderers.fitting import answered, fitting, refused
from hfcount.report.renderers.loaders import undecided
from hfcount.report.renderers.variants import variants
from hfcount.report.serving import Compute, Memory
from hfcount.text import plural


def outcome(report: Report) -> str:
    """The verdict; of what was only counted, as asked, that is none, but `counted`."""
    asked = report.depth == "config" and not (report.error or report.allowed)
    return "counted" if asked and report.verdict == "unverified" else report.verdict


def verdict(report: Report) -> str:
    """The verdict in words, such as `verified: 8 parameters: all names and the total size match`."""
    by = f" (names and shapes by {report.derived_with})" if report.derived_with else ""
    if report.recorded_from:
        by = f" ({report.family} is recorded from {report.recorded_from}, not described)"
    left = (
        ", ".join(
            other.kind
            for other in report.not_looked_at
            if other.count and other.kind not in (CODE, TRAINING, ORIGINALS)
        )
        if report.ok
        else ""
    )
    closed = f"; not opened: {left}" if left else ""
    answers = "".join(f"; {answer}" for answer in answered(report))
    more = f"{by}{closed}{answers}"
    because = _because(report)
    return f"{outcome(report)}: {because.rstrip('.') if more else because}{more}"


def share(part: int, total: int) -> str:
    """A percentage; more than nothing is never shown as 0 %."""
    if not part or not total:
        return "0 %"
    percent = 100 * part / total
    return "< 0.1 %" if percent < 0.1 else f"{percent:.1f} %"


_MATCHES = {
    "index": "all names and the total size match",
    "headers": "all names, shapes and sizes match",
    "data": "all names, shapes and sizes match, and all values were read",
}
"""What was compared, by how far a run looked."""

_Row = tuple[str, str, str]


def serving(report: Report) -> list[_Row]:
    """Rows on what serving a model takes: a name, a number, and its unit and origin."""
    memory, compute, counted = report.memory, report.compute, bool(report.components)
    rows = [_adapter(report.adapter)] if report.adapter else []
    rows += _weights(memory, counted) if memory else []
    if report.storage and report.storage.packed_parameters:
        rows.append(_quantised(report.storage))
    if memory:
        rows += _cache(memory, counted)
    if compute:
        rows += _multiplied(compute, memory, counted)
    rows += fitting(memory, report.serving) if memory and counted else []
    return rows + variants(report) if report.variants else rows


def _adapter(figures: AdapterFigures) -> _Row:
    """An adapter, with its size relative to the base."""
    parts = [figures.method]
    if figures.modules:
        parts.append(plural(figures.modules, "module"))
    if figures.base_parameters and figures.parameters is not None:
        part = share(figures.parameters, figures.base_parameters)
        parts.append(f"{part} of the {figures.base_parameters:,} of {figures.base}")
    elif figures.base:
        parts.append(f"for {figures.base}")
    count = "unknown" if figures.parameters is None else f"{figures.parameters:,}"
    return "adapter", count, f"parameters: {', '.join(parts)}"


def _weights(memory: Memory, counted: bool) -> Iterator[_Row]:
    if memory.weights_why and counted:
        yield "weights", "unknown", memory.weights_why
    if memory.weights_bytes is not None:
        sizes = memory.weights or {}
        stored = " + ".join(f"{binary(size)} {dtype}" for dtype, size in sizes.items())
        dtypes = f" {next(iter(sizes))}" if len(sizes) == 1 else f" = {stored}" if stored else ""
        yield "weights", f"{memory.weights_bytes:,}", f"bytes, {binary(memory.weights_bytes)}{dtypes}"


def _cache(memory: Memory, counted: bool) -> Iterator[_Row]:
    if memory.kv_bytes_per_token is None:
        if memory.why and counted:
            yield "cache", "unknown", memory.why
        return
    yield "cache", f"{memory.kv_bytes_per_token:,}", f"bytes per token{_kept(memory)}"
    if memory.state_bytes:
        yield "state", f"{memory.state_bytes:,}", f"bytes per sequence{_kept(memory, states=True)}"
    if memory.kv_bytes is not None:
        many = f"{plural(memory.batch, 'sequence')} of {memory.context:,} tokens"
        yield "cache in all", f"{memory.kv_bytes:,}", f"bytes, {binary(memory.kv_bytes)}, for {many}"
    if memory.total_bytes is not None:
        yield "weights + cache", f"{memory.total_bytes:,}", f"bytes, {binary(memory.total_bytes)}"


def _multiplied(compute: Compute, memory: Memory | None, counted: bool) -> Iterator[_Row]:
    if compute.per_token is None:
        if counted:
            yield "multiply-adds", "unknown", (memory.why or "") if memory else ""
        return
    near = f", plus {compute.per_position:,} per token of context" if compute.per_position else ""
    near += _limits(memory) if memory and near else ""
    yield "multiply-adds", f"{compute.per_token:,}", f"per token{near}"
    if compute.at_context is not None:
        yield "at that length", f"{compute.at_context:,}", f"for token {compute.context:,}"


def _quantised(stored: Storage) -> _Row:
    bits = f"{8 * stored.packed_bytes / stored.packed_parameters:,.2f}"
    dense = binary(max(stored.bytes - stored.packed_bytes, 0))
    return (
        "quantised",
        bits,
        f"bits per weight ({stored.scheme}): {plural(stored.modules, 'module')} in {binary(stored.packed_bytes)},"
        f" {dense} not quantised; unpacked {binary(stored.unpacked_bytes)}",
    )


def _limits(memory: Memory) -> str:
    """` (52 GQA layers: 1,024 tokens at most)`: which layers attend to a limited number of tokens."""
    near: Counter[tuple[str, str]] = Counter()  # layers that differ in other things are said once
    for part in memory.parts:
        if part.window or part.picked:
            limit = min(size for size in (part.window, part.picked) if size)
            near[part.kind, f"{limit:,} {'entries' if part.merged else 'tokens'} at most"] += part.layers
    limits = [f"{plural(layers, f'{kind} layer')}: {limit}" for (kind, limit), layers in near.items()]
    return f" ({'; '.join(limits)})" if limits else ""


def _kept(memory: Memory, states: bool = False) -> str:
    """` (48 GQA layers of 4,096 bytes)`: how many layers of which kind store how many bytes each."""
    parts = [
        f"{plural(part.layers, f'{part.kind} layer')} of {size:,} bytes"
        + (f" for {plural(part.merged, 'token')}" if part.merged is not None and part.merged > 1 and not states else "")
        + (f", {part.window:,} tokens at most" if part.window else "")
        for part in memory.parts
        if (size := part.state_bytes if states else part.bytes_per_token)
    ]
    return f" ({'; '.join(parts)})" if parts else ""


class PartRow(NamedTuple):
    """A row for a part of a pipeline."""

    name: str
    kind: str
    parameters: str
    weights: str
    verdict: str


def part_rows(report: Report) -> Iterator[PartRow]:
    """The parts of a pipeline; what holds no weights has no verdict of its own."""
    for part in report.parts or ():
        size = part.memory.weights_bytes if part.memory else None
        counted = part.depth == "config" and part.verdict == "unverified" and part.error is None
        yield PartRow(
            part.name,
            part.class_name,
            number(part.parameters.total if part.parameters else None) if part.verdict else "",
            ("unknown" if size is None else binary(size)) if part.verdict else "",
            "counted" if counted else part.verdict or "no weights",
        )
    if report.parts and report.parameters and report.parameters.total is not None:
        size = report.memory.weights_bytes if report.memory else None
        yield PartRow("total", "", number(report.parameters.total), "unknown" if size is None else binary(size), "")


def formulas(formula: ClosedForm) -> list[tuple[str, Sequence[FormulaPart]]]:
    """All formulas in groups, each with the text that follows their names."""
    return [
        ("", formula.parts),
        (", active", formula.active),
        (", one of them", formula.layers),
        (", one of them, active", formula.active_layers),
    ]


def number(value: int | None) -> str:
    """A count with separators; None is `unknown`."""
    return "unknown" if value is None else f"{value:,}"


def origin(report: Report) -> str:
    """Family, class, dtype, source and commit, in one line; nothing where that is but the word `folder`."""
    if not (report.family or report.revision):
        return ""
    parts = (
        report.family,
        report.architecture if report.architecture else None,
        report.dtype or ("no dtype" if report.family and report.container not in HELD else None),
        HELD.get(report.container or ""),
        report.source,
        f"commit {report.revision[:12]}" if report.revision else None,
    )
    return ", ".join(part for part in parts if part)


def tally(reports: Sequence[Report]) -> str:
    """`27 models: 8 verified, 3 explained, 14 mismatch, 2 unverified`."""
    counts = Counter(map(outcome, reports))
    verdicts = ", ".join(f"{counts[name]:,} {name}" for name in (*get_args(Verdict), "counted") if counts[name])
    return f"{plural(len(reports), 'model')}: {verdicts}{refused(reports)}"


def inert(text: str) -> str:
    """Lines of which GitHub's runner takes none for a workflow command, whatever names they hold and where they wrap.

    It obeys lines that begin with two colons, after blanks, and those with `##[` anywhere.
    """
    return re.sub(r"(?m)^(\s*)::", r"\1\\::", text).replace("##[", "#\\#[")


def remarks(report: Report) -> list[str]:
    """Remarks besides the findings: what a settings file did, why headers were read."""
    return [*settings.lines(report), *reading_remarks(report)]


def reading_remarks(report: Report) -> list[str]:
    """Why headers were read, and what parts of a pipeline could not be."""
    texts = []
    if report.depth in ("headers", "data") and report.depth_reason and report.source != "memory":
        texts.append(f"Headers were read because {report.depth_reason}.")
    texts += [f"{part.name}: {part.error.message}" for part in report.parts or () if part.error]
    return texts


def _judged(report: Report) -> list[ReportedFinding]:
    """The findings that the verdict depends on."""
    findings = (finding for finding in report.findings if not finding.rule.of_serving)
    return [finding for finding in findings if finding.severity == "error" or not finding.rule.informational]


def _because(report: Report) -> str:
    total = report.parameters.total if report.parameters else None
    errors = [finding for finding in _judged(report) if finding.severity == "error"]
    if report.verdict == "mismatch":
        counts = Counter(f"{finding.code} {finding.name}" for finding in errors)
        codes = ", ".join(f"{code} {count} times" if count > 1 else code for code, count in counts.items())
        return f"{plural(len(errors), 'error')} ({codes})"
    if report.verdict == "unverified":
        return _unproven(report)
    if report.verdict == "allowed":
        return _allowed(report)
    if report.container in HELD:
        return _contained(report)
    counted = f"{number(total)} parameters"
    if report.verdict == "verified":
        return f"{counted}: {_MATCHES.get(report.depth or '', _MATCHES['headers'])}"
    return f"{counted}; {_explained(report)}"


def _contained(report: Report) -> str:
    """What is held in a container of another format, and what it was held against."""
    stored = report.parameters.stored if report.parameters else None
    size = report.memory.weights_bytes if report.memory else None
    bits = f" ({8 * size / stored:.2f} bits each)" if size and stored else ""
    counted = f"{number(stored)} parameters in {number(size)} bytes{bits}"
    if report.verdict == "verified":
        held = [check.text for check in report.checks if check.name in ("metadata", "base")]
        by = [text.removeprefix("by ").partition(", which")[0] for text in held]
        return f"{counted}, names and shapes by {listed(by)}"
    notes = [finding for finding in report.findings if not finding.rule.informational]
    sound = "for its base" if report.adapter else "agrees with its own metadata"
    return f"{counted}, {sound}; see {', '.join(f'{note.code} {note.name}' for note in notes)}"


def _explained(report: Report) -> str:
    """The differences of an explained checkpoint, those first that loaders may take otherwise."""
    notes = [*(finding for finding in report.findings if finding.rule.divides), *_judged(report)]
    ways = ", ".join(dict.fromkeys(f"{finding.code} {finding.name}" for finding in notes))
    return f"differs only in known ways ({ways})"


def _counted(report: Report) -> str:
    total = report.parameters.total if report.parameters else None
    many = "" if total is None else f"{total:,} parameters, "
    return f"{many}from the config alone; nothing was compared"


def _allowed(report: Report) -> str:
    codes = ", ".join(rule.code for rule in report.allowed)
    return f"{plural(sum(rule.count for rule in report.allowed), 'error')} ({codes})"


def _unproven(report: Report) -> str:
    if report.error:
        return report.error.message
    if report.depth == "config":
        return f"nothing was compared; allowed: {_allowed(report)}" if report.allowed else _counted(report)
    if report.asides:
        parts = "; ".join(f"{prefix}: {why}" for prefix, why in report.asides.items())
        return f"all that hfcount knows of this model agrees; it does not know {parts}"
    notes = _judged(report)
    reasons = [finding for finding in notes if finding.rule.proof != "kept"] or notes
    names = ", ".join(f"{finding.code} {finding.name}" for finding in reasons)
    if reasons and all(finding.rule.proof == "doubted" for finding in reasons):
        return f"the files agree with the config, but loading may still fail ({names})"
    if by := undecided(report):
        return f"hfcount does not know whether {by} loads all of it ({names})"
    return f"parameters counted, but the stored bytes could not be checked{f' ({names})' if names else ''}"
