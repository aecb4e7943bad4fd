"""How a Diff shows itself; what makes each text of it is imported only where that text is asked for."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hfcount.diffing.model import Diff

Way = Literal["text", "markdown", "html"]
"""How a Diff can show itself."""


def shown(diff: "Diff", way: Way) -> str:
    """A Diff as its methods show it; html raises ImportError without the extra of that name."""
    if way == "text":
        from hfcount.diffing.terminal import as_text

        return as_text(diff)
    if way == "markdown":
        from hfcount.diffing.markdown import render
    else:
        from hfcount.diffing.page import render
    return render(diff)
