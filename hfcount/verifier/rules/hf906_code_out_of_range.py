"""HF906: code out of range."""

from hfcount.verifier.values import ValueFinding


class CodeOutOfRange(ValueFinding):
    """A stored index or flag is beyond what it stands for: a group that there is not, a row beyond its table.

    Args:
        expected: the largest value that is allowed.
        observed: the largest value, or the smallest if that is negative.
        meaning: what it counts.
    """

    code = "HF906"
    name = "code-out-of-range"
    level = "error"
    why = "Tensors of two checkpoints that were mixed, another group size, or a file that was damaged."
    remedy = "Make this tensor anew, with the table that it counts."

    expected: int
    observed: int
    meaning: str

    @property
    def text(self) -> str:
        return (
            f"{self.place} is {self.observed:,}, and as {self.meaning} it may be 0 to {self.expected:,}.{self.others}"
        )
