"""Renders a report for a notebook cell."""

from hashlib import sha256

from markupsafe import Markup

from hfcount.report.model import Report
from hfcount.report.renderers.html import environment, fills, modelled, resource


def render(report: Report) -> str:
    """The cell's HTML: the page without its map of tiles, whose styles bear on nothing outside of it."""
    name = f"hfcount-{sha256(report.to_json().encode()).hexdigest()[:12]}"
    style = Markup(resource("page.css") + resource("notebook.css") + "".join(fills()))
    cell = environment().get_template("notebook.html.jinja")
    return cell.render(model=modelled(name, report), style=style)
