"""Renders reports for a terminal; plain text when piped.

The verdict comes first, then the findings and what to do about them, then what was compared, and the counts last: of a
mismatch only if they are asked for. Of several models there is a row each, and the failures below; since a long output
scrolls, its last line says the verdict again.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from shlex import quote

from hfcount.report.model import PipelinePart, Report, ReportedFinding
from hfcount.report.renderers import loaders, sections, settings, table_of_models
from hfcount.report.renderers import text as words
from hfcount.report.renderers.columns import COLOURS
from hfcount.report.renderers.headline import compared, cure, sized
from hfcount.report.renderers.layout import Block, Indented, Text
from hfcount.report.renderers.selection import comparable, judged
from hfcount.report.renderers.terminal import Terminal, printed, terminal, without_colours
from hfcount.text import plural

_ROWS = 8  # folded names under a finding
_SCREEN = 24  # lines: what is longer ends with the verdict


def render(reports: Sequence[Report], *, full: bool = False) -> str:
    """The text for one or several reports, in the terminal's width and colours; `full` leaves nothing out."""
    return _rendered(reports, terminal(), full)


def served(reports: Sequence[Report]) -> str:
    """What serving takes, with the verdict and the findings; of several models the same as `render`."""
    to = terminal()
    if len(reports) > 1:
        return _rendered(reports, to, False)
    return printed(to, (part for report in reports for part in _served(report, to.width)))


def _served(report: Report, width: int) -> Iterator[Block]:
    yield from answer(report)
    if words.serving(report):
        yield Text()
        yield sections.serving(report, width)


def as_text(report: Report) -> str:
    """The same of one report, as it is printed: without colours."""
    return _rendered([report], without_colours(), False)


def _rendered(reports: Sequence[Report], to: Terminal, full: bool) -> str:
    if len(reports) > 1:
        return printed(to, _several(reports, to.width, full))
    text = printed(to, (part for report in reports for part in details(report, to.width, full=full)))
    if text.count("\n") >= _SCREEN:
        (report,) = reports
        text += "\n\n" + printed(to, [_closing(report)])
    return text


def _several(reports: Sequence[Report], width: int, full: bool) -> Iterator[Block]:
    yield from table_of_models.overview(reports, width)
    if full and comparable(reports):
        yield from table_of_models.comparison(reports, width)
    if notes := [] if full else [*table_of_models.lines(reports)]:
        yield Text()
        yield from notes
    for report in reports:
        in_detail = full or report.formula is not None or report.tensors is not None
        if in_detail or report.exit_code:
            yield Text()
            yield from details(report, width, full=full) if in_detail else answer(report)
    if judged(reports):
        yield Text()
        yield Text(words.tally(reports), f"bold {_worst(reports)}")


def _worst(reports: Sequence[Report]) -> str:
    """The colour of the worst outcome."""
    colours = {_colour(report) for report in reports}
    return next(colour for colour in ("red", "yellow", "green", "cyan") if colour in colours)


def _colour(report: Report) -> str:
    """The colour of the verdict; of a good model that fails what was asked, such as to fit, not that of good news."""
    return "yellow" if report.ok and report.exit_code else COLOURS[words.outcome(report)]


def _closing(report: Report) -> Text:
    return Text.of((report.label, "bold"), ": ", (words.verdict(report), f"bold {_colour(report)}"))


def details(report: Report, width: int = 80, *, full: bool = False) -> Iterator[Block]:
    """One checkpoint in `width` columns; of a mismatch, counts and costs only if `full`."""
    short = report.verdict == "mismatch" and not full
    yield from answer(report, full)
    about = [*filter(None, [compared(report), *words.reading_remarks(report), words.origin(report)])]
    if about and report.findings:
        yield Text()
    yield from (Text(line, "dim") for line in about)
    for section in _sections(report, width, short, full):
        yield Text()
        yield from section
    if short and report.components and not report.parts:
        yield Text()
        yield Text(_left_out(report), "dim")


def answer(report: Report, full: bool = False) -> Iterator[Block]:
    """The verdict and what was found, errors first, with what to do; names under a note only if `full`."""
    yield Text(report.label, "bold")
    yield Text(words.verdict(report), f"bold {_colour(report)}")
    if readers := loaders.line(report):
        yield Text(readers)
    if sized(report) and report.verdict != "mismatch":
        yield Text(sized(report))
    yield from map(Text, settings.lines(report, full))
    for finding in sorted(report.findings, key=lambda finding: finding.severity):  # an error comes before a note
        yield Text()
        yield from _finding(finding, full or finding.severity == "error")


def _left_out(report: Report) -> str:
    counts = report.parameters
    total = (
        f"{counts.total:,} parameters" if counts and counts.total is not None else "parts that hfcount does not know"
    )
    text = f"By its config it has {total}. --details shows its components, and the memory to serve it."
    if report.repair is None:
        return text
    does = "shows a repair" if report.repair == "proven" else "shows a repair and what is lost by it"
    return f"{text} `hfcount fix {quote(report.model)}` {does}."


def _sections(report: Report, width: int, short: bool, full: bool) -> Iterator[Iterable[Block]]:
    """What a report has of checks, counts, costs, tensors and formulas."""
    if report.checks:
        yield [sections.checks(report, width)]
    if full and report.loaders:
        yield [sections.loaders(report)]
    if report.parts:
        yield [sections.parts(report)]
    elif report.components and not short:
        yield sections.components(report, width)
    if report.modules:
        yield [sections.modules(report)]
    if words.serving(report) and (not short or _loaded(report)):
        yield [sections.serving(report, width)]
    yield from _in_detail(report, width)
    for part in report.parts or ():
        for section in _in_detail(part, width):
            yield chain([Text(part.name, "bold")], section)


def _in_detail(report: Report | PipelinePart, width: int) -> Iterator[Iterable[Block]]:
    """The tensors and the formula, where they were asked for."""
    if report.tensors is not None:
        yield sections.tensors(report, width)
    if report.formula is not None:
        yield sections.formula(report.formula)


def _loaded(report: Report) -> bool:
    """Whether something was asked about serving."""
    memory = report.memory
    return memory is not None and bool(memory.context or memory.available_bytes or memory.ranks)


def _finding(finding: ReportedFinding, names: bool) -> Iterator[Block]:
    colour = "red" if finding.severity == "error" else "yellow"
    message, fix = cure(finding)
    yield Text.of((finding.severity, f"bold {colour}"), f" {finding.code} {finding.name}")
    yield Indented(Text(message), 2)
    rows = list(finding.rows[:_ROWS]) if names and len(finding.rows) > 3 else []  # the message names the first three
    if names and len(finding.rows) > _ROWS:
        rows.append(f"... and {plural(len(finding.rows) - _ROWS, 'more row')} (--format json lists them)")
    for row in rows:
        yield Indented(Text(row, "dim"), 4)
    if finding.waived:
        yield Indented(Text(f"{settings.source(finding.waived)}."), 2)
    elif fix:
        yield Indented(Text.of(("Fix: ", "bold"), fix), 2)
    yield Indented(Text(finding.rule.url, "dim"), 2)
