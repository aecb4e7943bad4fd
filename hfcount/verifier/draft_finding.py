"""Base of findings about a draft model and its target."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class DraftFinding(Finding):
    """A finding about a draft.

    Args:
        target: the model target_name tokens it proposes, as it is named.
    """

    target: str

    @property
    def target_name(self) -> str:
        """The target, safe to print."""
        return printable(self.target)
