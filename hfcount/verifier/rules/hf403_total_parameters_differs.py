"""HF403: total parameters differs."""

from typing import Literal

from hfcount.verifier.finding import Finding
from hfcount.verifier.wording import by_how_much

Reason = Literal["vectors", "both", "buffers", "tied"]


class TotalParametersDiffers(Finding):
    """metadata.total_parameters is not the number of parameters.

    Args:
        reason: what the number counts instead, if that is known.
    """

    code = "HF403"
    name = "total-parameters-differs"
    level = "note"
    why = "The tied head was counted twice, or only what one rank holds was counted."
    remedy = "Rebuild the index, or remove the number."

    expected: int
    observed: int
    reason: Reason | None = None

    @property
    def text(self) -> str:
        reason = _REASONS[self.reason] if self.reason else by_how_much(self.observed, self.expected)
        # The Hub takes the smaller of this and its own sum.
        shown = " The Hub shows that number as the model's size." if self.observed < self.expected else ""
        claim = f"metadata.total_parameters is {self.observed:,}"
        return f"{claim}, but the model has {self.expected:,} parameters: {reason}.{shown}"


_REASONS = {
    "vectors": "it counts only vectors, which is what one rank sees when ZeRO-3 has partitioned the weights",
    "both": "it counts the tied head twice, and buffers",
    "buffers": "it counts buffers, too",
    "tied": "it counts the tied head twice",
}
