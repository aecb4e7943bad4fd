"""HF903: one value."""

from typing import ClassVar

from hfcount.verifier.values import ValueFinding
from hfcount.verifier.wording import sides


class OneValue(ValueFinding):
    """All elements of a weight matrix or of an embedding are the same, or a norm is zero where the others are not.

    No library begins with such values where a finding says so: biases of zeros, norms of ones, scales and tokens that
    are learnt from zero on, the second half of a LoRA adapter and rows of an embedding that are zero are sound.

    Args:
        observed: the value.
    """

    code = "HF903"
    name = "one-value"
    level = "error"
    why = "A save that gathered nothing (ZeRO-3, FSDP), a writer that was stopped, or a tensor that was never loaded."
    remedy = "Save the weights again, and look at what comes before the save: the values are lost in this file."
    training: ClassVar[str] = "Train these layers: until then the model computes the same without them."

    observed: int | float
    begun: bool = False

    @property
    def text(self) -> str:
        added = " What is around them adds nothing, as layers that were added begin." if self.begun else ""
        return f"All {sides(self.shape)} elements of {self.place} are {self.observed:g}.{self.others}{added}"
