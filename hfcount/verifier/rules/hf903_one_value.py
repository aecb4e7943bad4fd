"""HF903: one value."""

from typing import ClassVar

from hfcount.verifier.values import ValueFinding
from hfcount.verifier.wording import sides


class OneValue(ValueFinding):
    """All elements of a weight matrix or of an embedding are the same, or a norm is zero where the others are not.

    Values with which libraries start training are not reported: biases of zeros, norms of ones, scales and tokens that
    start at zero, the second half of a LoRA adapter and zero rows of an embedding.

    Args:
        observed: the value.
    """

    code = "HF903"
    name = "one-value"
    level = "error"
    why = "A save that gathered nothing (ZeRO-3, FSDP), a writer that was stopped, or a tensor that was never loaded."
    remedy = "Save the weights again, and check the steps before the save: this file has lost the values."
    training: ClassVar[str] = "Train these layers: until then they have no effect."

    idle: ClassVar[str] = "Nothing needs to be done where these experts were pruned."

    observed: int | float
    begun: bool = False

    @property
    def text(self) -> str:
        added = " The layer around them adds nothing, like a new layer before training." if self.begun else ""
        return f"All {sides(self.shape)} elements of {self.place} are {self.observed:g}.{self.others}{added}"
