"""HF850: draft width differs."""

from hfcount.verifier.draft_finding import DraftFinding


class DraftWidthDiffers(DraftFinding):
    """With --target MODEL only: a draft reads hidden states of another width than its target has."""

    code = "HF850"
    name = "draft-width-differs"
    level = "error"
    why = "The draft of another size of the same model."
    remedy = "Use the draft that was made for this target."

    expected: int
    observed: int

    @property
    def text(self) -> str:
        return (
            f"The draft reads hidden states {self.observed:,} wide, but those of {self.target_name} are"
            f" {self.expected:,} wide (hidden_size)."
        )
