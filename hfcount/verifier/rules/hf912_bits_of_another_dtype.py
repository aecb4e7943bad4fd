"""HF912: bits of another dtype."""

from hfcount.verifier.values import ValueFinding


class BitsOfAnotherDtype(ValueFinding):
    """The bits of a matrix are of another 16-bit dtype than its header says: only read as that they look like weights.

    Args:
        expected: the dtype that the bits are of.
        observed: the dtype that the header says.
        median: of the magnitudes, as the header has it; `other` as the other dtype.
    """

    code = "HF912"
    name = "bits-of-another-dtype"
    level = "error"
    why = "A writer that copied float16 bits into a bfloat16 tensor, or the reverse, instead of converting values."
    remedy = "Correct the dtype in the header, or convert the values and save them again."

    expected: str
    observed: str
    median: float
    other: float

    @property
    def text(self) -> str:
        return (
            f"{self.place} is {self.observed} by its header, but its bits look like {self.expected}: half of its values"
            f" are below {self.median:.3g} read as {self.observed}, and below {self.other:.3g} read as {self.expected}."
            f"{self.others}"
        )
