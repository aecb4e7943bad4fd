"""Renders one line for each report, and a tally of several."""

from collections.abc import Sequence

from hfcount.report.model import Report
from hfcount.report.renderers import settings
from hfcount.report.renderers.amounts import binary
from hfcount.report.renderers.text import inert, tally, verdict
from hfcount.text import printable


def render(reports: Sequence[Report]) -> str:
    """A line for each report; of a what-if with what it changes."""
    lines, published = [], None
    for report in reports:
        published = report if report.overrides is None else published
        because = "; ".join(filter(None, [verdict(report), settings.summary(report)]))
        lines.append(printable(f"{report.label}: {because}{_effect(report, published)}", None))
    return inert("\n".join([*lines, tally(reports)] if len(reports) > 1 else lines))


def _effect(report: Report, published: Report | None) -> str:
    """`; +3,528 parameters, 16.15 KiB of weights`: what a what-if changes of the model as it is published."""
    if report.overrides is None or published is None:
        return ""
    counts = [one.parameters.total if one.parameters else None for one in (published, report)]
    before, after = counts
    more = "" if before is None or after is None or before == after else f"; {after - before:+,} parameters"
    size = report.memory.weights_bytes if report.memory else None
    return f"{more}; weights {'unknown' if size is None else binary(size)}"
