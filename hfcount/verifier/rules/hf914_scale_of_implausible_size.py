"""HF914: scale of implausible size."""

from hfcount.verifier.values import ValueFinding


class ScaleOfImplausibleSize(ValueFinding):
    """A scale of packed weights is so large or so small that the resulting weights cannot be right.

    Args:
        observed: the root mean square of the scale.
        weights: that of the weights that it stands for, where it is known.
    """

    code = "HF914"
    name = "scale-of-implausible-size"
    level = "error"
    why = "A scale that was stored as its reciprocal, as some formats do, or that was divided twice."
    remedy = "Quantise the model again, or store the reciprocal of each scale if that gives weights below 1."

    observed: float
    weights: float | None = None

    @property
    def text(self) -> str:
        so = f", that of the resulting weights {self.weights:.3g}" if self.weights is not None else ""
        return (
            f"{self.place} is a scale of packed weights: its root mean square is {self.observed:.3g}{so}.{self.others}"
        )
