"""HF906: code out of range."""

from hfcount.verifier.values import ValueFinding


class CodeOutOfRange(ValueFinding):
    """A stored index or flag is out of range: a group that does not exist, or a row beyond its table.

    Args:
        expected: the largest value that is allowed.
        observed: the largest value, or the smallest if that is negative.
        meaning: what it counts.
    """

    code = "HF906"
    name = "code-out-of-range"
    level = "error"
    why = "Tensors of two checkpoints were mixed, the group size is another, or the file is damaged."
    remedy = "Quantise again: write this tensor together with the tensor that it indexes."

    expected: int
    observed: int
    meaning: str

    @property
    def text(self) -> str:
        return f"{self.place} is {self.observed:,}, but must be 0 to {self.expected:,} ({self.meaning}).{self.others}"
