"""Collects the reports of a run, prints them as they come, and writes files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hfcount.cli.output import show
from hfcount.options import Extra
from hfcount.report.renderers import Format

if TYPE_CHECKING:
    from hfcount.cli.output_files import OutputFile
    from hfcount.report.model import Report


class ReportStream:
    """The reports of a run, printed one by one if the format is streamed.

    Args:
        unasked: fields that only a page needs.
    """

    def __init__(self, format: Format, unasked: Sequence[Extra]) -> None:
        self._format = format
        self._unasked: dict[str, Any] = dict.fromkeys(unasked)
        self.whole: list[Report] = []
        self.reports: list[Report] = []
        self.gone = False  # whether nobody reads the output any more

    def add(self, reports: "Sequence[Report]") -> None:
        """Adds the reports of a model."""
        self.whole += reports
        self.reports += [report.replace(**self._unasked) for report in reports]
        if self._format.streamed and not self.gone:
            self.gone = not show(self._format, self.reports[-len(reports) :])

    def end(self) -> None:
        """Prints formats that are not streamed."""
        if not self._format.streamed:
            self.gone = not show(self._format, self.reports)

    def write(self, files: "Sequence[OutputFile]", pages: "Sequence[OutputFile]", dark: bool) -> None:
        """Writes the files, even if the output is closed; pages get all fields."""
        for file in files:
            file.write(self.whole if file in pages else self.reports, dark)
