"""Renders a Diff for its own methods; imports each renderer on demand."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hfcount.diffing.model import Diff

Way = Literal["text", "markdown", "html"]
"""Formats in which a Diff renders itself."""


def shown(diff: "Diff", way: Way) -> str:
    """Renders a Diff; html raises ImportError without the extra of that name."""
    if way == "text":
        from hfcount.diffing.terminal import as_text

        return as_text(diff)
    if way == "markdown":
        from hfcount.diffing.markdown import render
    else:
        from hfcount.diffing.page import render
    return render(diff)
