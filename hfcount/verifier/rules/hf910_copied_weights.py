"""HF910: copied weights."""

from typing import ClassVar, Literal

from hfcount.verifier.values import ValueFinding
from hfcount.verifier.wording import short

Copied = Literal["tensor", "layer", "layers", "experts", "all experts"]


class CopiedWeights(ValueFinding):
    """Weights are the same to the bit as others of their model, which nothing ties.

    A note where whole ranges of layers repeat, as merges by passthrough make them, or all experts are the same, as in a
    model that was made of a dense one and is not trained yet.

    Args:
        kind: what is a copy.
        expected: the tensor, layer or expert that it is the same as.
        copy: the layer or the expert, if it is one.
    """

    code = "HF910"
    name = "copied-weights"
    level = "error"
    why = "A conversion that read one tensor twice, or a loop that saved the same layer or expert again."
    remedy = "Convert or save the weights again, and look at how names and numbers of layers are made."
    meant: ClassVar[str] = "Nothing needs to be done where this is meant, as in a merge or before training."

    kind: Copied
    expected: str
    copy: str = ""

    @property
    def text(self) -> str:
        if self.kind == "tensor":
            return f"{self.place} holds the values of {short(self.expected)}, and nothing ties them.{self.others}"
        if self.kind == "all experts":
            return f"All experts of {short(self.copy)} are the same, in all layers that have any."
        noun = {"layer": "Layer", "layers": "Layers", "experts": "Expert"}[self.kind]
        verb = "hold" if self.kind == "layers" else "holds"
        return f"{noun} {short(self.copy)} {verb} the weights of {short(self.expected)}, {self.count:,} tensors."
