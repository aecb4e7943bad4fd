"""HF856: draft context shorter."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class DraftContextShorter(Finding):
    """With --target MODEL only: a draft allows fewer tokens of context than its target.

    Args:
        target: the target, as it is named.
    """

    code = "HF856"
    name = "draft-context-shorter"
    level = "note"
    informational = True
    why = "A draft is trained on shorter texts than its target."
    remedy = "Expect fewer accepted tokens beyond that length, or none: engines stop drafting there."

    expected: int
    observed: int
    target: str

    @property
    def text(self) -> str:
        return f"The draft allows {self.observed:,} tokens of context, and {printable(self.target)} {self.expected:,}."
