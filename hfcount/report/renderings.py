"""How a report shows itself: the package registers it when it is imported, since a report knows no reporters."""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package, which imports this at its start
if TYPE_CHECKING:
    from collections.abc import Callable

    from hfcount.report.model import Report

RENDERINGS: dict[str, Callable[[Report], str]] = {}
"""What a report is as `verdict`, `markdown`, `html` and `notebook`."""
