"""HF905: scale unusable."""

from hfcount.verifier.values import ValueFinding
from hfcount.verifier.wording import sides


class ScaleUnusable(ValueFinding):
    """A scale of packed weights is NaN, infinite, zero or negative; a note where the weights may have been zero.

    Args:
        observed: what it is.
    """

    code = "HF905"
    name = "scale-unusable"
    level = "error"
    why = (
        "Weights that were zero or NaN before quantisation, scales that were never written, or a cast that underflowed."
    )
    remedy = "Quantise the model again from good weights."

    observed: str

    @property
    def text(self) -> str:
        if self.index is None:
            every = f"All {sides(self.shape)} elements of {self.place}, a scale of packed weights,"
            return f"{every} are {self.observed}.{self.others}"
        some = f"is {self.observed}" if self.values < 2 else f"is the first of {self.values:,} that are {self.observed}"
        return f"{self.place} {some}, {self.of}; it is a scale of packed weights.{self.others}"
