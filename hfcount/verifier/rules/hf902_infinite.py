"""HF902: infinite."""

from hfcount.verifier.values import ValueFinding


class Infinite(ValueFinding):
    """A parameter holds infinite values, or a buffer does that is not a mask of -inf or an infinite bound.

    Args:
        observed: the bits of the first.
    """

    code = "HF902"
    name = "infinite"
    level = "error"
    why = "A cast to float16, whose largest number is 65,504, or a merge that overflowed."
    remedy = "Convert the weights again, to a dtype that can hold them, such as bfloat16."

    observed: str

    @property
    def text(self) -> str:
        many = "is infinite" if self.values == 1 else f"is the first of {self.values:,} that are infinite"
        return f"{self.place} {many}, {self.of} (bits {self.observed}).{self.others}"
