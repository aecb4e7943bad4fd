"""HF912: bits of another dtype."""

from hfcount.verifier.values import ValueFinding


class BitsOfAnotherDtype(ValueFinding):
    """The bits of a matrix are those of another 16-bit dtype than the header says: only so they spread as weights do.

    Args:
        expected: the dtype that the bits are of.
        observed: the dtype that the header says.
        median: of the magnitudes, as the header has it; `other` as the other dtype.
    """

    code = "HF912"
    name = "bits-of-another-dtype"
    level = "error"
    why = "A writer that copied float16 bits into a bfloat16 tensor, or the reverse, instead of converting values."
    remedy = "Write the header with the dtype of the bits, or convert the values and save them again."

    expected: str
    observed: str
    median: float
    other: float

    @property
    def text(self) -> str:
        return (
            f"{self.place} is {self.observed} by the header, and its bits are {self.expected}: read as {self.observed}"
            f" half of its values are below {self.median:.3g}, read as {self.expected} below {self.other:.3g}."
            f"{self.others}"
        )
