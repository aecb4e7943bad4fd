"""HF850: draft width differs."""

from hfcount.text import printable
from hfcount.verifier.finding import Finding


class DraftWidthDiffers(Finding):
    """With --target MODEL only: a draft reads states of another width than its target has.

    Args:
        target: the target, as it is named.
    """

    code = "HF850"
    name = "draft-width-differs"
    level = "error"
    why = "The draft of another size of the same model."
    remedy = "Take the draft that was made for this target."

    expected: int
    observed: int
    target: str

    @property
    def text(self) -> str:
        return (
            f"The draft reads states {self.observed:,} wide, and those of {printable(self.target)} are"
            f" {self.expected:,} wide (hidden_size)."
        )
