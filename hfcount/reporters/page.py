"""The report as one self-contained HTML page: it opens from disk and requests nothing from the network.

All values of a report pass through Jinja's escaping, and control and bidirectional characters are shown as escapes. The
positions of tiles are computed here, so that the page is complete without its script.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hfcount.report.counts import ComponentCount, LayerKind
from hfcount.report.model import Report
from hfcount.reporters.amounts import binary
from hfcount.reporters.colours import COLOURS
from hfcount.reporters.treemap import Box, squarify
from hfcount.reporters.words import looked, number, origin, remarks, serving, share, verdict
from hfcount.text import plural, printable

ROWS = 500
"""Rows of a list that are shown; of the rest the page gives the number."""

_FINEST = 5_000  # a tile is at least 1/5,000 of its map: a smaller one would be a few pixels
_MAP = Box(0, 0, 160, 100)
_SYMBOL = re.compile(r"([^A-Za-z]*)([A-Za-z]*)(_?)(\w*)")  # what is before it, letter, underscore, index: `2·h_kv`


class Part(NamedTuple):
    """A component's parameters in layers of one kind, or outside of them; `title` is a short form of `where`."""

    component: str
    title: str
    where: str
    total: int
    active: int


class Map(NamedTuple):
    """A treemap of all parameters or of the active ones; `left` are parts that are too small to draw."""

    name: Literal["all", "active"]
    tiles: Sequence[tuple[Part, Box]]
    left: Sequence[Part]

    def size(self, part: Part) -> int:
        """The parameters that the area of a part represents."""
        return part.active if self.name == "active" else part.total


class Model(NamedTuple):
    """A report, and the values that the page computes from it; `total` and `active` are sums over components."""

    id: str
    report: Report
    total: int
    active: int
    components: Sequence[tuple[ComponentCount, Sequence[Part]]]
    maps: Sequence[Map]


def render(reports: Sequence[Report]) -> str:
    """The page of one or several models; the same reports give the same text."""
    models = [_model(f"m{place}", report) for place, report in enumerate(reports, 1)]
    style = Markup(_own("page.css") + "".join(_fills()) + "".join(rule for model in models for rule in _places(model)))
    script = Markup(_own("page.js"))
    present = {component.name for report in reports for component in report.components}
    alone = reports[0] if len(reports) == 1 else None
    page = _environment().get_template("page.html.jinja")
    return page.render(
        models=models,
        roles=[name for name in COLOURS if name in present],
        title=f"{alone.label}: {alone.verdict}" if alone else plural(len(reports), "checkpoint"),
        tally=", ".join(f"{count:,} {name}" for name, count in Counter(report.verdict for report in reports).items()),
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none';"
        " form-action 'none'",
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hfcount.reporters"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value, None) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "binary": lambda size: "unknown" if size is None else binary(size),
        "plural": plural,
        "role": lambda name: name if name in COLOURS else "other",
        "symbols": _SYMBOL.findall,
    }
    environment.globals |= {
        "verdict": verdict, "looked": looked, "origin": origin, "remarks": remarks, "share": share, "serving": serving,
        "bar": _bar, "ROWS": ROWS,
    }  # fmt: skip
    return environment


def _own(name: str) -> str:
    return files("hfcount.reporters").joinpath("templates", name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _model(name: str, report: Report) -> Model:
    total = sum(component.total for component in report.components)
    active = sum(map(_active, report.components))
    components = [(component, list(_parts(component, report.layers or ()))) for component in report.components]
    parts = [parts for _, parts in components]
    maps = [_map("all", total, parts)] if total else []
    if 0 < active < total:
        maps.append(_map("active", active, parts))
    return Model(name, report, total, active, components, maps)


def _active(component: ComponentCount) -> int:
    """Active parameters; all of them where that is not known."""
    return component.total if component.active is None else component.active


def _parts(component: ComponentCount, kinds: Sequence[LayerKind]) -> Iterator[Part]:
    total, active = component.total, _active(component)
    names = Counter(kind.name for kind in kinds)
    for kind in kinds:
        for part in kind.components:
            if part.name == component.name:
                total, active = total - part.total, active - _active(part)
                where = f"{kind.name}, layer{'s' if kind.count > 1 else ''} {kind.numbers}"
                title = kind.name if names[kind.name] == 1 else where
                yield Part(component.name, title, where, part.total, _active(part))
    if total:
        where = "outside of the layers" if kinds else ""
        yield Part(component.name, where, where, total, active)


def _map(name: Literal["all", "active"], whole: int, components: Sequence[Sequence[Part]]) -> Map:
    empty = Map(name, (), ())

    def size(*parts: Part) -> int:
        return sum(map(empty.size, parts))

    drawn, left = [], []
    for parts in components:
        large = [part for part in parts if size(part) * _FINEST >= whole]
        small = [part for part in parts if 0 < size(part) * _FINEST < whole]
        merged = [_merged(small, "small parts" if large else "")] if len(small) > 1 else small
        if merged and size(*merged) * _FINEST < whole:
            left += merged
        else:
            large += merged
        if large:
            drawn.append(sorted(large, key=size, reverse=True))
    drawn.sort(key=lambda parts: size(*parts), reverse=True)
    boxes = squarify([size(*parts) for parts in drawn], _MAP)
    tiles = [
        (part, box)
        for parts, around in zip(drawn, boxes, strict=True)
        for part, box in zip(parts, squarify([size(part) for part in parts], around), strict=True)
    ]
    return Map(name, tiles, left)


def _merged(parts: Sequence[Part], title: str) -> Part:
    total, active = sum(part.total for part in parts), sum(part.active for part in parts)
    return Part(parts[0].component, title, title and f"{len(parts):,} {title}", total, active)


def _fills() -> Iterator[str]:
    for role, (fill, ink, _) in COLOURS.items():
        yield f".c-{role}{{--fill:{fill};--on:{ink}}}\n"


def _places(model: Model) -> Iterator[str]:
    """The position of each tile, as CSS in the style element: the page's policy allows no other styles."""
    for drawn in model.maps:
        for place, (_, box) in enumerate(drawn.tiles, 1):
            across = f"left:{box.left / _MAP.width:.3%};width:{box.width / _MAP.width:.3%}"
            down = f"top:{box.top / _MAP.height:.3%};height:{box.height / _MAP.height:.3%}"
            yield f"#{model.id}-{drawn.name}-{place}{{{across};{down}}}\n"


def _bar(model: Model) -> Iterator[tuple[str, str, str]]:
    """The bar of components: the name, left edge and width of each, in percent."""
    before = 0
    for component, _ in model.components:
        yield component.name, f"{100 * before / model.total:.3f}", f"{100 * component.total / model.total:.3f}"
        before += component.total
