"""HF852: draft layer absent."""

from hfcount.verifier.draft_finding import DraftFinding


class DraftLayerAbsent(DraftFinding):
    """With --target MODEL only: a draft reads the hidden state of a layer that its target does not have.

    Args:
        listed: the numbers in the list that the target has no state for.
        first: the smallest number that there may be.
        last: the largest.
    """

    code = "HF852"
    name = "draft-layer-absent"
    level = "error"
    why = "The draft of a deeper model, or layer numbers that count from 1."
    remedy = "Use the draft that was made for this target, or correct the list."

    key: str
    listed: tuple[int, ...]
    last: int
    first: int = 0

    @property
    def text(self) -> str:
        shown = ", ".join(f"{number:,}" for number in self.listed[:5])
        more = f" and {len(self.listed) - 5:,} more" if len(self.listed) > 5 else ""
        return (
            f"{self.key} of the draft lists {shown}{more}, but the hidden states of {self.target_name} are"
            f" numbered {self.first:,} to {self.last:,} ({self.expected:,} layers)."
        )
