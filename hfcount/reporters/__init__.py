"""Reports as text, as a page and as a figure. FORMATS are the values of --format: a new one is its file and its row."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hfcount.report.model import Report


class Format(NamedTuple):
    """One value of --format.

    Args:
        module: the file of this folder whose `render(reports)` gives the text; imported when it is used.
        purpose: what the format is for, as --help says it.
        streamed: whether each model is printed as soon as it is done, without waiting for the others.
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
    "json": Format("lines", "for programs, one object a line", streamed=True),
    "markdown": Format("markdown", "for a model card or a pull request"),
}
