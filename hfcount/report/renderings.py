"""Tables by which a Report or a Diff finds its renderers without importing them."""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package, which imports this at its start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RENDERINGS: dict[str, Callable[[Any], str]] = {}
"""What makes text of a report: by `text`, `reasons`, `markdown`, `html` and `notebook`."""

DIFF_RENDERINGS: dict[str, Callable[[Any], str]] = {}
"""What makes text of a diff: by `text`, `markdown` and `html`."""
