"""What differs, as a self-contained page."""

from hfcount.diffing.model import Diff


def render(diff: Diff) -> str:
    """The page."""
    return diff.summary
