"""HF910: copied weights."""

from typing import ClassVar, Literal

from hfcount.verifier.values import ValueFinding
from hfcount.verifier.wording import short

Copied = Literal["tensor", "layer", "layers", "experts", "all experts"]


class CopiedWeights(ValueFinding):
    """Weights are identical bit for bit to others of the model, though nothing ties them.

    A note where whole ranges of layers repeat, as in passthrough merges, or all experts are the same, as in a model
    that was made from a dense one and is not trained yet.

    Args:
        kind: what is a copy.
        expected: the tensor, layer or expert that it is the same as.
        copy: the layer or the expert, if it is one.
    """

    code = "HF910"
    name = "copied-weights"
    level = "error"
    why = "A conversion that read one tensor twice, or a loop that saved the same layer or expert again."
    remedy = "Convert or save the weights again, and check how that code makes tensor names and layer numbers."
    meant: ClassVar[str] = "Nothing to do if this is intended, as in a merge or before training."

    kind: Copied
    expected: str
    copy: str = ""

    @property
    def text(self) -> str:
        if self.kind == "tensor":
            return f"{self.place} has the same values as {short(self.expected)}, but nothing ties them.{self.others}"
        if self.kind == "all experts":
            return f"All experts of {short(self.copy)} are the same, in all layers that have experts."
        noun = {"layer": "Layer", "layers": "Layers", "experts": "Expert"}[self.kind]
        verb = "have" if self.kind == "layers" else "has"
        return f"{noun} {short(self.copy)} {verb} the same weights as {short(self.expected)} ({self.count:,} tensors)."
