"""What differs, as one self-contained page: both sides beside each other, and a picture of what changed by layer.

All values pass through Jinja's escaping, and control and bidirectional characters are shown as escapes.
"""

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hfcount.diffing import picture
from hfcount.diffing.model import Diff
from hfcount.diffing.text import EFFECTS, TITLES, expected, facts, key_row, lists, side_facts, value_line
from hfcount.text import plural, printable

ROWS = 500
"""Rows of a list that are shown."""


def render(diff: Diff) -> str:
    """The page; the same Diff gives the same text."""
    style = Markup(files("hfcount.diffing").joinpath("templates", "diff.css").read_text("utf-8"))
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return _environment().get_template("diff.html.jinja").render(diff=diff, style=style, policy=policy)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hfcount.diffing"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value, None) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "drawings": picture.drawings, "STATES": picture.STATES, "WIDTH": picture.WIDTH, "ROW": picture.ROW,
        "sides": side_facts, "configs": _configs, "lists": lists, "facts": facts, "expected": expected,
        "value_line": value_line, "TITLES": TITLES, "ROWS": ROWS, "plural": plural,
        "percent": lambda value: "" if value is None else f"{value:.3%}",
        "real": lambda value: "" if value is None else f"{value:.4g}",
    }  # fmt: skip
    return environment


def _configs(diff: Diff) -> Iterator[tuple[str, list[tuple[str, str, str, str]]]]:
    """The keys of each effect, with its title."""
    for effect, title in EFFECTS.items():
        rows = [key_row(row) for row in diff.config if row.effect == effect]
        if rows:
            yield title, rows[:ROWS]
