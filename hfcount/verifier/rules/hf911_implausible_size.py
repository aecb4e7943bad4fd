"""HF911: implausible size."""

from typing import ClassVar

from hfcount.verifier.values import ValueFinding


class ImplausibleSize(ValueFinding):
    """The values of a tensor are far larger or smaller than those of any working model.

    A note where all matrices of an expert are small, as weight decay leaves an expert that no token is routed to.

    Args:
        observed: the root mean square of its values that are not zero.
        expected: that of the same tensor in other layers; None if there is none, or they are as odd.
    """

    code = "HF911"
    name = "implausible-size"
    level = "error"
    why = "A scale that was applied twice or the wrong way round, an optimizer's state saved as weights, or damage."
    remedy = "Save the weights again from the last good checkpoint, and check every step that scales them."

    idle: ClassVar[str] = "Nothing needs to be done where no token is routed to these experts."

    observed: float
    expected: float | None = None

    @property
    def text(self) -> str:
        beside = f"; in other layers it is {self.expected:.3g}" if self.expected is not None else ""
        return f"The root mean square of {self.place} is {self.observed:.3g}{beside}.{self.others}"
