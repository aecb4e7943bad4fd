"""All that is printed of several reports: verdicts, what is shown in full, and the models side by side."""

from collections.abc import Sequence

from hfcount.report.model import Report


def table(reports: Sequence[Report]) -> str:
    """For a terminal, in its width and colours."""
    from rich.console import Console

    from hfcount.reporters import table

    console = Console(highlight=False)
    with console.capture() as captured:
        if _judged(reports):
            console.print(table.summary(reports))
        for report in _in_full(reports):
            if len(reports) > 1:
                console.print()
            for part in table.details(report, console.width):
                console.print(part)
        if _comparable(reports):
            for part in table.comparison(reports, console.width):
                console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().split("\n")).strip("\n")


def markdown(reports: Sequence[Report]) -> str:
    """For a model card or a pull request."""
    from hfcount.reporters import markdown

    parts = [markdown.summary(reports)] if _judged(reports) else []
    parts += [markdown.details(report) for report in _in_full(reports)]
    if _comparable(reports):
        parts.append(markdown.comparison(reports))
    return "\n\n".join(parts)


def _judged(reports: Sequence[Report]) -> bool:
    """Whether there are verdicts to list: several, and not all of them counted and no more."""
    return len(reports) > 1 and any(report.depth != "config" or report.exit_code for report in reports)


def _in_full(reports: Sequence[Report]) -> list[Report]:
    """A model alone, and of several those that fail or were asked about."""
    return [report for report in reports if len(reports) == 1 or report.exit_code or report.formula or report.tensors]


def _comparable(reports: Sequence[Report]) -> bool:
    return sum(bool(report.components) for report in reports) > 1
