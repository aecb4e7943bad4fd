"""Renders the row of an adapter, with its size relative to the base."""

from collections.abc import Callable

from hfcount.report.figures import AdapterFigures
from hfcount.text import plural


def adapter(figures: AdapterFigures, share: Callable[[int, int], str]) -> list[tuple[str, str, str]]:
    """One row: name, number, unit and origin. `share` formats a percentage."""
    parts = [figures.method]
    if figures.modules:
        parts.append(plural(figures.modules, "module"))
    if figures.base_parameters and figures.parameters is not None:
        part = share(figures.parameters, figures.base_parameters)
        parts.append(f"{part} of the {figures.base_parameters:,} of {figures.base}")
    elif figures.base:
        parts.append(f"for {figures.base}")
    count = "unknown" if figures.parameters is None else f"{figures.parameters:,}"
    return [("adapter", count, f"parameters: {', '.join(parts)}")]
