"""The report as one self-contained HTML page: it opens from disk and requests nothing from the network.

The positions of tiles are computed here, so that the page is complete without its script.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from hfcount.report.figures import ComponentCount
from hfcount.report.model import Report
from hfcount.report.renderers import headline, loaders, pages, values
from hfcount.report.renderers.amounts import binary
from hfcount.report.renderers.colours import COLOURS, role
from hfcount.report.renderers.comparison import compared
from hfcount.report.renderers.depth import looked
from hfcount.report.renderers.selection import deciding, failing_first
from hfcount.report.renderers.text import number, origin, outcome, part_rows, remarks, serving, share, verdict
from hfcount.report.renderers.tiles import FRAME, ComponentPart, Treemap, active_of, deeper, drawn, parts
from hfcount.text import plural

ROWS = 500
"""The most rows of a list; the page shows the number of others."""
_NAMED = 6
"""The most findings that the line above the table names."""

_SYMBOL = re.compile(r"([^A-Za-z]*)([A-Za-z]*)(_?)(\w*)")  # what is before it, letter, underscore, index: `2·h_kv`


class ModelSection(NamedTuple):
    """A report, and the values that the page computes from it; `total` and `active` are sums over components."""

    id: str
    report: Report
    total: int
    active: int
    components: Sequence[tuple[ComponentCount, Sequence[ComponentPart]]]
    maps: Sequence[Treemap]


def render(reports: Sequence[Report]) -> str:
    """The page of one or several models, of which the failing are first; the same reports give the same text."""
    changed = _what_if(reports)
    reports = reports if changed else failing_first(reports)
    models = [modelled(f"m{place}", report) for place, report in enumerate(reports, 1)]
    style = Markup(
        resource("page.css") + "".join(fills()) + "".join(rule for model in models for rule in _places(model))
    )
    script = Markup(resource("page.js"))
    alone = reports[0] if len(reports) == 1 else None
    heading, tally = _changed(reports) if changed else _headed(reports)
    page = environment().get_template("page.html.jinja")
    return page.render(
        models=models,
        sizes=compared(reports),
        title=f"{alone.label}: {outcome(alone)}" if alone else heading,
        heading=heading,
        tally=tally,
        style=style,
        script=script,
        policy=pages.policy(style, script),
    )


def _what_if(reports: Sequence[Report]) -> bool:
    """Whether the reports are one model and what ifs of it."""
    return any(report.overrides for report in reports) and len({report.model for report in reports}) == 1


def _changed(reports: Sequence[Report]) -> tuple[str, str]:
    """The heading and tally of what ifs."""
    many = plural(len(reports) - 1, "what-if")
    return f"What if? {reports[0].model}", f"As published, and {many}: counted, not compared with anything."


def _headed(reports: Sequence[Report]) -> tuple[str, str]:
    """The heading and tally of several models: `3 of 44 fail: HF301 shape-differs in 2, HF201 missing-tensor in 1.`"""
    counts = Counter(map(outcome, reports))
    tally = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    heading = plural(len(reports), "checkpoint")
    failing = [report for report in reports if report.exit_code == 1]
    if not failing:
        return heading, tally
    found = Counter(f"{finding.code} {finding.name}" for report in failing for finding in deciding(report))
    codes = ", ".join(f"{name} in {count:,}" for name, count in found.most_common(_NAMED))
    others = f" and {plural(len(found) - _NAMED, 'other finding')}" if len(found) > _NAMED else ""
    many = f"{len(failing):,} of {len(reports):,} {'fails' if len(failing) == 1 else 'fail'}"
    return heading, f"{tally}. {many}: {codes}{others}." if codes else f"{tally}. {many}."


def _outcome(report: Report) -> tuple[str, str]:
    """The word and the style of a report's outcome."""
    style = outcome(report)
    return "what-if" if style == "counted" and report.overrides else style, style


def _because(report: Report) -> str:
    """The reason after the outcome."""
    return verdict(report).removeprefix(outcome(report))


@cache
def environment() -> Environment:
    """The template environment of the page."""
    environment = pages.environment("hfcount.report.renderers")
    environment.filters |= {
        "number": number,
        "deciding": deciding,
        "binary": lambda size: "unknown" if size is None else binary(size),
        "plural": plural,
        "real": pages.real,
        "role": role,
        "symbols": _SYMBOL.findall,
    }
    environment.globals |= {
        "verdict": verdict, "looked": looked, "compared": headline.compared, "sized": headline.sized,
        "cure": headline.cure, "origin": origin, "remarks": remarks, "share": share, "serving": serving,
        "part_rows": part_rows, "loader_line": loaders.line, "loader_rows": loaders.rows,
        "bar": _bar, "ROWS": ROWS, "outcome_of": _outcome, "because": _because,
        "deciding": deciding, "drawing": values.drawing, "WIDTH": values.WIDTH, "HEIGHT": values.HEIGHT,
    }  # fmt: skip
    return environment


def resource(name: str) -> str:
    """A file beside the templates."""
    return pages.resource("hfcount.report.renderers", name)


def modelled(name: str, report: Report) -> ModelSection:
    """Computes the page's values for a report."""
    total = sum(component.total for component in report.components)
    active = sum(map(active_of, report.components))
    components = [(component, list(parts(component, report.layers or ()))) for component in report.components]
    groups = [several for _, several in components]
    inner = deeper(report, [part for several in groups for part in several])
    maps = [drawn("all", total, groups, inner)] if total else []
    if 0 < active < total:
        maps.append(drawn("active", active, groups, inner))
    return ModelSection(name, report, total, active, components, maps)


def fills() -> Iterator[str]:
    """The colours of components."""
    for name, (fill, ink, _) in COLOURS.items():
        yield f".c-{name}{{--fill:{fill};--on:{ink}}}\n"


def _places(model: ModelSection) -> Iterator[str]:
    """The position of each tile, as CSS in the style element: the page's policy allows no other styles."""
    for map_ in model.maps:
        for place, (_, box) in enumerate(map_.tiles, 1):
            across = f"left:{box.left / FRAME.width:.3%};width:{box.width / FRAME.width:.3%}"
            down = f"top:{box.top / FRAME.height:.3%};height:{box.height / FRAME.height:.3%}"
            yield f"#{model.id}-{map_.name}-{place}{{{across};{down}}}\n"


def _bar(model: ModelSection) -> Iterator[tuple[str, str, str]]:
    """The bar of components: the name, left edge and width of each, in percent."""
    before = 0
    for component, _ in model.components:
        yield component.name, f"{100 * before / model.total:.3f}", f"{100 * component.total / model.total:.3f}"
        before += component.total
