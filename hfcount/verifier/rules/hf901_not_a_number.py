"""HF901: not a number."""

from hfcount.verifier.values import ValueFinding


class NotANumber(ValueFinding):
    """A tensor that is loaded holds NaN.

    Args:
        observed: the bits of the first.
    """

    code = "HF901"
    name = "not-a-number"
    level = "error"
    why = "Training that diverged, a merge or a cast that overflowed, or a damaged file."
    remedy = "Restore the weights from the last good checkpoint: NaN spreads to every output."

    observed: str

    @property
    def text(self) -> str:
        many = "is NaN" if self.values == 1 else f"is the first of {self.values:,} that are NaN"
        return f"{self.place} {many}, {self.of} (bits {self.observed}).{self.others}"
