"""Renders a diff as one self-contained HTML page."""

from collections.abc import Iterator
from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from hfcount.diffing import picture
from hfcount.diffing.model import Diff
from hfcount.diffing.text import EFFECTS, TITLES, expected, facts, key_row, lists, share, side_facts, value_line
from hfcount.report.renderers import pages
from hfcount.text import plural

ROWS = 500
"""The most rows of a list."""


def render(diff: Diff) -> str:
    """The page; the same Diff gives the same text."""
    style = Markup(pages.resource("hfcount.diffing", "diff.css"))
    return _environment().get_template("diff.html.jinja").render(diff=diff, style=style, policy=pages.policy(style))


@cache
def _environment() -> Environment:
    environment = pages.environment("hfcount.diffing")
    environment.globals |= {
        "drawings": picture.drawings, "states": picture.states, "WIDTH": picture.WIDTH, "ROW": picture.ROW,
        "sides": side_facts, "configs": _configs, "lists": lists, "facts": facts, "expected": expected,
        "value_line": value_line, "TITLES": TITLES, "ROWS": ROWS, "plural": plural,
        "percent": lambda value: "" if value is None else share(value, 3),
        "real": pages.real,
    }  # fmt: skip
    return environment


def _configs(diff: Diff) -> Iterator[tuple[str, list[tuple[str, str, str, str]]]]:
    """The keys of each effect, with its title."""
    for effect, title in EFFECTS.items():
        rows = [key_row(row) for row in diff.config if row.effect == effect]
        if rows:
            yield title, rows[:ROWS]
