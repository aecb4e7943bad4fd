"""Renders reports as text, pages and figures.

FORMATS are the values of --format: a new one needs a module here and a row there.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from hfcount.report.model import Report


class Format(NamedTuple):
    """One value of --format.

    Args:
        module: the module of this folder whose `render(reports)` returns the text; imported when it is used.
        purpose: what the format is for, in --help.
        streamed: whether each report is printed as soon as it is done.
    """

    module: str
    purpose: str
    streamed: bool = False

    def render(self, reports: "Sequence[Report]") -> str:
        """The text of the reports."""
        text: str = import_module(f"{__name__}.{self.module}").render(reports)
        return text


FORMATS: Mapping[str, Format] = {
    "table": Format("table", "for people"),
    "json": Format("json", "for programs, one object a line", streamed=True),
    "markdown": Format("markdown", "for a model card or a pull request"),
    "github": Format("github", "for GitHub Actions, with annotations"),
    "concise": Format("concise", "for logs, a line for each model and finding, with file and line"),
    "sarif": Format("sarif", "for code scanning"),
    "junit": Format("junit", "for CI"),
    "gitlab": Format("gitlab", "for GitLab's code quality report"),
    "csv": Format("csv", "for spreadsheets, a row a model"),
    "csv-long": Format("csv_long", "a row a component"),
    "html": Format("html", "a page"),
    "badge": Format("badge", "the JSON of a badge of shields.io"),
}

ALIASES: Mapping[str, str] = {"md": "markdown", "xml": "junit", "jsonl": "json", "ndjson": "json", "htm": "html"}
"""Other names of formats: suffixes of their files."""


Way = Literal["text", "reasons", "markdown", "html", "notebook"]
"""How a report can show itself."""


def shown(report: "Report", way: Way) -> str:
    """One report by itself, as its methods show it."""
    if way == "reasons":
        from hfcount.report.renderers.reasons import reasons

        return reasons(report)
    if way == "text":
        from hfcount.report.renderers.table import as_text

        return as_text(report)
    if way == "notebook":
        from hfcount.report.renderers.notebook import render

        return render(report)
    return Format(way, "for a report by itself").render([report])


class Output(NamedTuple):
    """One kind of file that --output writes.

    Args:
        module: the module of this folder whose `render(reports)` returns the text, or whose `draw(reports, kind, dark)`
            returns the bytes of a picture.
        needs: the library that it takes, and the extra that brings it.
    """

    module: str
    needs: tuple[str, str] | None = None

    def make(self, kind: str, reports: "Sequence[Report]", dark: bool = False) -> bytes:
        """The content of the file."""
        reporter = import_module(f"{__name__}.{self.module}")
        if self.module == "plots":
            picture: bytes = reporter.draw(reports, kind, dark)
            return picture
        text: str = reporter.render(reports)
        return f"{text}\n".encode()


OUTPUTS: Mapping[str, Output] = {
    "json": Output("json"),
    "md": Output("markdown"),
    "xml": Output("junit"),
    "sarif": Output("sarif"),
    "gitlab": Output("gitlab"),
    "csv": Output("csv"),
    "csv-long": Output("csv_long"),
    "html": Output("html", ("jinja2", "html")),
    "badge": Output("badge"),
    **dict.fromkeys(("svg", "png", "pdf"), Output("plots", ("matplotlib", "plot"))),
}
"""Files by their suffix; JSON is one object a line, XML is JUnit's, `csv-long:FILE.csv` has a row a component.

`gitlab:FILE.json` is a code quality report, `badge:FILE.json` a badge."""
